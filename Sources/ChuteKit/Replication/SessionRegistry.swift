/// Decides which of several connections to one device stays. A value without I/O or clock.
struct SessionRegistry {
    /// What is known of one connection.
    struct Entry: Hashable, Sendable {
        /// Tells connections apart, on this side only.
        let number: UInt64
        /// The end that opened it.
        let dialer: DeviceID
        /// The peer's number for this start of its engine.
        let instance: UInt64
        /// Of its transport: the least is the best.
        let rank: Int
    }

    enum Decision: Hashable, Sendable {
        /// The new connection is the only one.
        case keep
        /// The new connection takes the place of that one.
        case replace(number: UInt64)
        /// The one that is there stays if it lives, and the new one ends; else it takes its place.
        case refuse(number: UInt64)
        /// Another engine claims to be the same device: ask the old connection for a sign of
        /// life. Without one it is dead, with one there is a clone.
        case askFirst(number: UInt64)
    }

    private(set) var entries: [DeviceID: Entry] = [:]

    /// Judges a new connection. Both ends judge alike: of two connections between the same two
    /// engines that of the better transport stays, and of two by one transport that which the
    /// lesser id opened.
    func judge(_ entry: Entry, for device: DeviceID, own: DeviceID) -> Decision {
        guard let old = entries[device] else { return .keep }
        guard old.instance == entry.instance else { return .askFirst(number: old.number) }
        if old.rank != entry.rank {
            return entry.rank < old.rank
                ? .replace(number: old.number) : .refuse(number: old.number)
        }
        if old.dialer == entry.dialer { return .replace(number: old.number) }
        return entry.dialer == min(own, device)
            ? .replace(number: old.number) : .refuse(number: old.number)
    }

    mutating func add(_ entry: Entry, for device: DeviceID) { entries[device] = entry }

    /// Forgets a connection, unless another one has taken its place.
    mutating func remove(number: UInt64, of device: DeviceID) {
        if entries[device]?.number == number { entries[device] = nil }
    }
}
