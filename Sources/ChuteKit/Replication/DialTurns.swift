/// Bounds the connections that this device opens and that have not proved anything yet: as a whole,
/// and those on account of one device, so that addresses at which nobody answers keep no other
/// device waiting. A value without I/O or clock.
struct DialTurns {
    /// On whose account an address is dialled.
    enum Party: Hashable, Sendable {
        /// Those who are said to be there.
        case devices(Set<DeviceID>)
        /// Somebody asked for this address, and nobody knows who is there.
        case address(String)
        /// Devices that were found and are not known before they were dialled.
        case newcomers
    }

    struct Limits: Sendable {
        var whole = 32
        var perParty = 8
    }

    private struct Waiter {
        let number: UInt64
        let party: Party
    }

    private let limits: Limits
    private var nextNumber: UInt64 = 0
    /// In the order in which they came.
    private var waiting: [Waiter] = []
    private var held: [UInt64: Party] = [:]
    private var counts: [Party: Int] = [:]

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Asks for a turn by a number of its own, which `next` says once it has it.
    mutating func ask(for party: Party) -> UInt64 {
        nextNumber += 1
        waiting.append(Waiter(number: nextNumber, party: party))
        return nextNumber
    }

    /// Whose turn it is next, of those who wait: of the party with the fewest turns who came first.
    /// `nil` where it is nobody's.
    mutating func next() -> UInt64? {
        guard held.count < limits.whole else { return nil }
        let due = waiting.indices.min { count(of: $0) < count(of: $1) }
        guard let due, count(of: due) < limits.perParty else { return nil }
        let waiter = waiting.remove(at: due)
        held[waiter.number] = waiter.party
        counts[waiter.party, default: 0] += 1
        return waiter.number
    }

    private func count(of place: Int) -> Int { counts[waiting[place].party] ?? 0 }

    /// It is over, or is not wanted any more. Saying so twice is saying it once.
    mutating func end(_ number: UInt64) {
        waiting.removeAll { $0.number == number }
        guard let party = held.removeValue(forKey: number), let count = counts[party] else {
            return
        }
        counts[party] = count > 1 ? count - 1 : nil
    }
}
