import ChuteSystem

/// An address as the transport `lan` writes it: `lan://192.168.1.5:4041`,
/// `lan://[fe80::1%eth0]:4041`.
enum LANAddress {
    private static let scheme = "lan://"

    static func text(_ address: SocketAddress) -> String { scheme + address.description }

    /// `nil` for an address of another transport.
    static func socketAddress(_ text: String) -> SocketAddress? {
        guard text.hasPrefix(scheme) else { return nil }
        return SocketAddress(String(text.dropFirst(scheme.count)))
    }
}
