/// What an outbox may take of its file system, and of its own measure.
///
/// A want under way counts as if its bytes were here: else two looks would promise the same
/// space twice, and the files that come last would fill what is to stay free.
struct SpaceLimits: Hashable, Sendable {
    /// What stays free on the file system, in bytes.
    var minFree: UInt64
    /// What the outbox may hold altogether, in bytes; `nil` without limit.
    var maxTotal: UInt64?

    /// How full it is, in bytes.
    struct Usage: Hashable, Sendable {
        /// What may still be written to the file system.
        var free: UInt64
        /// Whether files can still be made there.
        var hasNames = true
        /// What wants under way will still write there, those of other outboxes too.
        var unwritten: UInt64 = 0
        /// What this outbox holds.
        var held: UInt64 = 0
        /// All bytes of this outbox's wants under way, written or not.
        var promised: UInt64 = 0
    }

    /// What may be promised now.
    func budget(_ usage: Usage) -> SpaceBudget {
        let free = usage.hasNames ? usage.free.less(minFree).less(usage.unwritten) : 0
        guard let maxTotal else { return SpaceBudget(available: free, reason: .noSpace) }
        let quota = maxTotal.less(usage.held).less(usage.promised)
        return SpaceBudget(
            available: min(free, quota), reason: quota < free ? .overQuota : .noSpace)
    }
}

extension UInt64 {
    fileprivate func less(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
