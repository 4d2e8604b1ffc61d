/// What to do about a replaced copy: it stays for 30 days, and is never removed as long as no
/// other copy of its file, in whatever version, is known in the space.
enum ReplacedDecision: Hashable {
    case keep
    /// The clock leapt: the time is counted from now on.
    case countAnew
    case remove

    static let days: Int64 = 30
    /// A machine that was off for longer is rarer than a clock that is wrong.
    private static let believedDays: Int64 = 400
    private static let day: Int64 = 86_400

    /// Decides for a copy that was replaced at `since`, both in seconds since 1970.
    static func of(since: Int64, now: Int64, isElsewhere: Bool) -> Self {
        let (age, overflow) = now.subtractingReportingOverflow(since)
        guard !overflow, (0...(believedDays * day)).contains(age) else { return .countAnew }
        return age >= days * day && isElsewhere ? .remove : .keep
    }
}
