/// Decides which repeated messages are worth a line: one per key in each interval.
///
/// A value without a clock; keys whose interval is over are forgotten, so that it stays small.
package struct LogLimit<Key: Hashable & Sendable>: Sendable {
    package let interval: Duration
    private var lastWritten: [Key: Duration] = [:]

    package init(interval: Duration = .seconds(60)) { self.interval = interval }

    /// Whether to write a line about `key`; `now` is any clock that only goes forward.
    package mutating func permits(_ key: Key, now: Duration) -> Bool {
        if let last = lastWritten[key], now - last < interval { return false }
        if lastWritten.count >= 1024 {
            let interval = interval
            lastWritten = lastWritten.filter { now - $0.value < interval }
        }
        lastWritten[key] = now
        return true
    }
}
