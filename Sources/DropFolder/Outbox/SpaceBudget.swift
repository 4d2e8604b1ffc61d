/// The space that is left for files that are about to be fetched.
struct SpaceBudget: Hashable, Sendable {
    private var available: UInt64
    /// All that was taken.
    private(set) var used: UInt64 = 0
    /// Why a file that does not fit waits.
    let reason: SkipReason

    init(available: UInt64, reason: SkipReason) {
        self.available = available
        self.reason = reason
    }

    /// Nothing left.
    static var none: SpaceBudget { SpaceBudget(available: 0, reason: .noSpace) }

    var left: UInt64 { available > used ? available - used : 0 }

    /// Takes `count` bytes; `false` where there are not enough.
    mutating func take(_ count: UInt64) -> Bool {
        guard count <= left else { return false }
        used += count
        return true
    }

    /// `count` bytes went to somebody else.
    mutating func lose(_ count: UInt64) { available -= min(available, count) }

    /// `count` bytes that were promised before are free again.
    mutating func giveBack(_ count: UInt64) {
        let sum = available.addingReportingOverflow(count)
        available = sum.overflow ? .max : sum.partialValue
    }
}
