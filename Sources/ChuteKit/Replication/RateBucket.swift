/// Spreads bytes over time so that no more than a rate of them pass. A value without a clock.
struct RateBucket: Sendable {
    /// In bytes a second; `nil` without limit.
    var rate: UInt64?
    /// When what passed so far would be through at that rate.
    private var through = Duration.zero

    /// After a pause so much may pass at once: pauses are not that exact.
    private static let tolerance = Duration.milliseconds(100)

    init(rate: UInt64? = nil) { self.rate = rate }

    /// Lets `count` bytes pass at `now`, which never goes back; how long they have to wait.
    mutating func take(_ count: Int, now: Duration) -> Duration {
        guard let rate, rate > 0 else { return .zero }
        let begin = max(through, now)
        through = begin + .seconds(1) * (Double(count) / Double(rate))
        return max(.zero, begin - Self.tolerance - now)
    }
}
