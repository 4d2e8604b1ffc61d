/// When a member has been away for so long that nothing is kept back for it any more. It gets what
/// some member still has once it comes again.
package enum Absence {
    /// Seconds: 60 days.
    package static let limit: UInt64 = 60 * 86_400

    /// `lastHeard` and `now` in seconds since 1970. One of which nothing ever came is waited for:
    /// it may have joined a moment ago. A clock that went back makes nobody absent.
    package static func isAbsent(lastHeard: UInt64?, now: UInt64) -> Bool {
        guard let lastHeard, lastHeard <= now else { return false }
        return now - lastHeard > limit
    }
}
