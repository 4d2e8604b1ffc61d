import ChuteSystem

/// In which order the addresses of a ticket are tried: those of networks that this device is in,
/// then those that can be reached from anywhere, then those of other private networks, where
/// nobody answers, or somebody else; those of this host itself last. A value without I/O or clock.
struct JoinOrder {
    let networks: [NetworkPrefix]

    func sorted(_ addresses: [String]) -> [String] {
        addresses.enumerated().map { (rank($0.element), $0.offset, $0.element) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map(\.2)
    }

    private func rank(_ text: String) -> Int {
        let address =
            LANAddress.socketAddress(text) ?? SocketAddress(text) ?? WebSocketURL(text)?.address
        guard let address else { return 1 }
        if address.isLoopback { return 3 }
        if networks.contains(where: { $0.contains(address) }) { return 0 }
        return address.isPrivate ? 2 : 1
    }
}
