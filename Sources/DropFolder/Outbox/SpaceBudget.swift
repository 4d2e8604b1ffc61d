/// The space that is left for files that are about to be fetched.
struct SpaceBudget: Hashable, Sendable {
    private let available: UInt64
    private(set) var used: UInt64 = 0
    /// Why a file that does not fit waits.
    let reason: SkipReason

    init(available: UInt64, reason: SkipReason) {
        self.available = available
        self.reason = reason
    }

    /// Nothing left.
    static var none: SpaceBudget { SpaceBudget(available: 0, reason: .noSpace) }

    /// Takes `count` bytes; `false` where there are not enough.
    mutating func take(_ count: UInt64) -> Bool {
        guard used <= available, count <= available - used else { return false }
        used += count
        return true
    }

    /// `count` bytes that were promised before are free again.
    mutating func giveBack(_ count: UInt64) {
        used = used > count ? used - count : 0
    }
}
