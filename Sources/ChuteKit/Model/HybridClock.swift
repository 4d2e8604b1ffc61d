/// A moment on the hybrid logical clock: milliseconds since 1970 and a counter within them.
struct Stamp: Hashable, Comparable, Sendable {
    /// Milliseconds in the upper 48 bits, the counter in the lower 16.
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    init(milliseconds: UInt64, counter: UInt16 = 0) {
        rawValue = milliseconds << 16 | UInt64(counter)
    }

    var milliseconds: UInt64 { rawValue >> 16 }

    /// The end of the year 9999: nothing later is a stamp.
    static let latest = Stamp(milliseconds: 253_402_300_799_999, counter: .max)

    var isValid: Bool { self <= .latest }

    /// The next possible moment.
    var next: Stamp { Stamp(rawValue: min(rawValue + 1, Self.latest.rawValue)) }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Gives stamps that only grow, near the wall clock, and after all that was seen.
struct HybridClock: Sendable {
    private(set) var last: Stamp

    /// A remote stamp further ahead than this does not pull the clock along.
    static let tolerance: UInt64 = 3_600_000  // one hour in milliseconds

    init(last: Stamp) { self.last = last }

    /// A stamp for a local write over something stamped `overwritten`.
    mutating func tick(now milliseconds: UInt64, over overwritten: Stamp? = nil) -> Stamp {
        let wall = Stamp(milliseconds: min(milliseconds, Stamp.latest.milliseconds))
        last = max(wall, last.next)
        return max(last, overwritten?.next ?? last)
    }

    /// Takes note of a stamp from elsewhere, unless it is too far ahead of the wall clock.
    mutating func observe(_ stamp: Stamp, now milliseconds: UInt64) {
        guard stamp.isValid, stamp.milliseconds <= milliseconds + Self.tolerance else { return }
        last = max(last, stamp)
    }
}
