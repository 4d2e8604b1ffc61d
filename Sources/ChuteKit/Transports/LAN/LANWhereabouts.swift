import ChuteSystem

/// Whether this device went to another network. A value without I/O or clock.
///
/// Interfaces of containers and virtual machines come and go all the time, most of them with
/// addresses of their link alone: that is no other network. Who left a network and came to one
/// where it has not been is elsewhere, and so is who has nothing left of what it had.
struct LANWhereabouts {
    /// The addresses that it had under its names; of those of a link only the last ones.
    private var known: Set<SocketAddress> = []

    /// Takes in the addresses that links are told of; whether this is elsewhere.
    mutating func isElsewhere(at addresses: Set<SocketAddress>) -> Bool {
        // Nobody is told anything.
        guard !addresses.isEmpty else { return false }
        func isOfNetwork(_ address: SocketAddress) -> Bool { !address.isOfThisLink }
        let hasLeft = known.subtracting(addresses).contains(where: isOfNetwork)
        let hasCome = addresses.subtracting(known).contains(where: isOfNetwork)
        let isElsewhere =
            hasLeft && hasCome || !known.isEmpty && known.isDisjoint(with: addresses)
        known = isElsewhere ? addresses : addresses.union(known.filter(isOfNetwork))
        return isElsewhere
    }
}
