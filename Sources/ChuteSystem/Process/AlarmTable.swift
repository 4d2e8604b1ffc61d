/// When to wake, for who waits for a moment: as seldom as all of them allow.
///
/// Moments are nanoseconds of one clock.
struct AlarmTable {
    private struct Entry {
        /// Not before this.
        let earliest: Int64
        /// Not after it, if the machine lets us.
        let latest: Int64
    }

    private var entries: [UInt64: Entry] = [:]

    /// Sets, or sets anew, the moment of `id`.
    mutating func set(_ id: UInt64, earliest: Int64, latest: Int64) {
        entries[id] = Entry(earliest: earliest, latest: max(earliest, latest))
    }

    mutating func remove(_ id: UInt64) { entries[id] = nil }

    /// The next moment that somebody cannot let pass; `nil` where nobody waits.
    ///
    /// Where every pause that begins at a wake lasts, with its tolerance, at least so long, and
    /// every tolerance does, no two wakes are closer together.
    var nextWake: Int64? { entries.values.lazy.map(\.latest).min() }

    /// Takes out all that may be woken at `now`, those that are due first in front.
    mutating func takeDue(_ now: Int64) -> [UInt64] {
        let due = entries.filter { $0.value.earliest <= now }
        for id in due.keys { entries[id] = nil }
        return due.sorted { ($0.value.latest, $0.key) < ($1.value.latest, $1.key) }.map(\.key)
    }
}
