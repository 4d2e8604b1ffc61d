/// All byte strings from one to another, both included.
struct KeyRange: Hashable, Sendable {
    let lower: [UInt8]
    let upper: [UInt8]

    /// Greater than every key and every id.
    static let top = [UInt8](repeating: 0xFF, count: 129)
    static let everything = KeyRange(lower: [], upper: top)

    static func point(_ key: [UInt8]) -> KeyRange { KeyRange(lower: key, upper: key) }

    /// Whether only one byte string is in it.
    var isPoint: Bool { lower == upper }

    /// What begins with `prefix`, and little more.
    static func prefix(_ prefix: [UInt8]) -> KeyRange {
        var next = prefix
        while next.last == 0xFF { next.removeLast() }
        guard let last = next.popLast() else { return KeyRange(lower: prefix, upper: top) }
        return KeyRange(lower: prefix, upper: next + [last + 1])
    }

    /// What this becomes where only the first `count` bytes of a byte string are kept.
    func cut(to count: Int) -> KeyRange {
        KeyRange(lower: Array(lower.prefix(count)), upper: Array(upper.prefix(count)))
    }
}

/// Ranges in order that have nothing in common.
struct KeyRanges: Hashable, Sendable {
    let all: [KeyRange]

    init(_ ranges: [KeyRange]) {
        var merged: [KeyRange] = []
        let sorted = ranges.filter { ByteOrder.compare($0.lower, $0.upper) <= 0 }.sorted {
            $0.lower.lexicographicallyPrecedes($1.lower)
        }
        for range in sorted {
            if let last = merged.last, ByteOrder.compare(range.lower, last.upper) <= 0 {
                let isWithin = ByteOrder.compare(range.upper, last.upper) <= 0
                merged[merged.count - 1] = KeyRange(
                    lower: last.lower, upper: isWithin ? last.upper : range.upper)
            } else {
                merged.append(range)
            }
        }
        all = merged
    }

    /// What is in both.
    func intersection(_ other: KeyRanges) -> KeyRanges {
        var common: [KeyRange] = []
        var left = all[...]
        var right = other.all[...]
        while let one = left.first, let two = right.first {
            let lower = ByteOrder.compare(one.lower, two.lower) < 0 ? two.lower : one.lower
            let isFirstShorter = ByteOrder.compare(one.upper, two.upper) < 0
            common.append(KeyRange(lower: lower, upper: isFirstShorter ? one.upper : two.upper))
            if isFirstShorter { left.removeFirst() } else { right.removeFirst() }
        }
        return KeyRanges(common)
    }

    /// Whether there are only single byte strings.
    var arePoints: Bool { all.allSatisfy(\.isPoint) }

    /// What this becomes where only the first `count` bytes of a byte string are kept.
    func cut(to count: Int) -> KeyRanges { KeyRanges(all.map { $0.cut(to: count) }) }
}
