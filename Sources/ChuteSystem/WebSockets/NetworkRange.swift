import Glibc

/// Addresses that begin alike: `10.0.0.0/8`, `fd00::/8`, or a single one.
package struct NetworkRange: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes; those behind the prefix are zero.
    private let bytes: [UInt8]
    private let prefix: Int

    /// Reads `ADDRESS` or `ADDRESS/BITS`; `nil` where it is neither.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        var bytes = SocketAddress(host: String(first), port: 0).numericBytes
        guard !bytes.isEmpty else { return nil }
        var prefix = bytes.count * 8
        if parts.count == 2 {
            guard let bits = Int(parts[1]), parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 })
            else { return nil }
            // A range of IPv4 addresses in IPv6 form is one of IPv4 addresses.
            let own = first.contains(":") && bytes.count == 4 ? bits - 96 : bits
            guard 0...prefix ~= own else { return nil }
            prefix = own
        }
        for index in bytes.indices {
            let kept = min(max(prefix - index * 8, 0), 8)
            bytes[index] &= UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
        (self.bytes, self.prefix) = (bytes, prefix)
    }

    /// Whether an address, in numbers, is one of them. A name never is.
    package func contains(_ host: String) -> Bool {
        let other = SocketAddress(host: host, port: 0).numericBytes
        guard other.count == bytes.count else { return false }
        for index in bytes.indices {
            let kept = min(max(prefix - index * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> kept)
            guard other[index] & mask == bytes[index] else { return false }
        }
        return true
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        let address = String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "\(address)/\(prefix)"
    }
}
