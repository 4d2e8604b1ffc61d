/// Durations as a person writes and reads them.
package enum TimeSpan {
    private static let units: [(names: [String], milliseconds: UInt64)] = [
        (["ms", "millisecond", "milliseconds"], 1),
        (["s", "sec", "secs", "second", "seconds"], 1000),
        (["min", "mins", "minute", "minutes"], 60_000),
        (["h", "hour", "hours"], 3_600_000),
        (["d", "day", "days"], 86_400_000),
        (["w", "week", "weeks"], 604_800_000),
    ]

    /// Reads `15 min`, `60 s`, `1.5 h`, `30 days`; `nil` where it is none or does not fit. A bare
    /// number says no unit and is none, but for 0.
    package static func parse(_ text: String) -> Duration? {
        guard let (number, unit) = Quantity.split(text) else { return nil }
        if unit.isEmpty { return number.scaled(by: 1) == 0 ? .zero : nil }
        guard let factor = units.first(where: { $0.names.contains(unit.lowercased()) }),
            let milliseconds = number.scaled(by: factor.milliseconds),
            milliseconds <= 100 * 365 * 86_400_000
        else { return nil }
        return .milliseconds(Int64(milliseconds))
    }

    /// The span in its largest whole unit: `15 min`, `30 days`.
    package static func text(_ span: Duration) -> String {
        let parts = span.components
        let milliseconds = parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
        let names: [(String, Int64)] = [
            ("days", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000),
        ]
        for (name, factor) in names where milliseconds != 0 && milliseconds % factor == 0 {
            let count = milliseconds / factor
            return "\(count) \(count == 1 && name == "days" ? "day" : name)"
        }
        return milliseconds == 0 ? "0 s" : "\(milliseconds) ms"
    }
}
