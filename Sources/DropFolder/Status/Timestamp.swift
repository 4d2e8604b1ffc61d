/// A moment to the second, written as RFC 3339 in UTC.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Since 1970; negative before it.
    package let seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }

    package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

    /// `2024-05-06T07:08:09Z`; years outside of 0 to 9999 are cut to that range.
    package var description: String {
        let bounded = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let second = ((bounded % 86_400) + 86_400) % 86_400
        // Days since 1 March of the year 0, so that the leap day comes last in its year.
        let days = (bounded - second) / 86_400 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2) + "T"
            + Self.padded(second / 3600, 2) + ":" + Self.padded(second / 60 % 60, 2) + ":"
            + Self.padded(second % 60, 2) + "Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
