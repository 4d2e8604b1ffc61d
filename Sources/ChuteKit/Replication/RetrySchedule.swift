/// How long to wait before the next attempt: 20, 50, 100, 200, 400 ms, then doubling from the least
/// to the greatest.
struct RetrySchedule: Sendable {
    private static let first: [Duration] = [
        .milliseconds(20), .milliseconds(50), .milliseconds(100), .milliseconds(200),
        .milliseconds(400),
    ]
    var pauses: ClosedRange<Duration>
    private var attempts = 0

    init(_ pauses: ClosedRange<Duration> = .seconds(1)...(.seconds(60))) { self.pauses = pauses }

    /// The next pause. `random` in 0..<1 spreads the longer ones over half their length, so that
    /// devices that lost each other at one moment do not all come back at one.
    mutating func next(random: Double) -> Duration {
        defer { attempts += 1 }
        if attempts < Self.first.count { return Self.first[attempts] }
        let doubled = pauses.lowerBound * (1 << min(attempts - Self.first.count, 12))
        let pause = min(doubled, pauses.upperBound)
        return pause / 2 + pause / 2 * random
    }

    /// After success the quick attempts come first again.
    mutating func reset() { attempts = 0 }
}
