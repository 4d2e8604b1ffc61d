import ChuteSystem

/// Which addresses a member may have dialled by this device: none that it could not reach by
/// itself, so that nobody looks through this device into a network that it is not in. A value
/// without I/O or clock.
struct DialBackRule {
    /// Where the member's connection comes from, in numbers; `nil` where that is not known.
    let source: SocketAddress?
    /// The networks that this device is in.
    let networks: [NetworkPrefix]

    /// What is dialled for an address in numbers; `nil` where nothing is: it is neither public, nor
    /// where the member's connection comes from, nor in a network that both are in.
    func target(for address: SocketAddress) -> SocketAddress? {
        guard address.port != 0 else { return nil }
        if address.isPublic { return address }
        guard let source else { return nil }
        if address.isSameHost(as: source) {
            // A zone is a number of the host that says it.
            return SocketAddress(host: source.host, port: address.port)
        }
        // All links share these networks.
        guard !address.isOfThisLink else { return nil }
        let isShared = networks.contains { $0.contains(address) && $0.contains(source) }
        return isShared ? address : nil
    }
}
