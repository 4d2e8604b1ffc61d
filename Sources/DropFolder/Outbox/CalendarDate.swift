package import ChuteSystem

/// A day of the Gregorian calendar, for `{year}`, `{month}` and `{day}` and for dated names.
package struct CalendarDate: Hashable, Sendable {
    package let year: Int64
    package let month: Int64
    package let day: Int64

    /// The day of a moment, `offset` seconds east of UTC.
    package init(_ time: FileStatus.Nanoseconds, offset: Int64 = 0) {
        let seconds = Self.floor(time, 1_000_000_000) + offset
        // Days are counted from 1 March of the year 0, in eras of 400 years: the leap day is
        // the last of a year then, and every era has the same length.
        let days = Self.floor(seconds, 86_400) + 719_468
        let era = Self.floor(days, 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `2026-01-31`.
    package var text: String { "\(yearText)-\(monthText)-\(dayText)" }
    package var yearText: String { Self.padded(year, 4) }
    package var monthText: String { Self.padded(month, 2) }
    package var dayText: String { Self.padded(day, 2) }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
