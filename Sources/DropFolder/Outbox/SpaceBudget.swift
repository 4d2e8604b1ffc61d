/// The space that is left for files that are about to be fetched.
struct SpaceBudget: Sendable {
    private let available: UInt64
    private var used: UInt64 = 0
    /// Why a file that does not fit waits.
    let reason: SkipReason

    init(available: UInt64, reason: SkipReason) {
        self.available = available
        self.reason = reason
    }

    /// Takes `count` bytes; `false` where there are not enough.
    mutating func take(_ count: UInt64) -> Bool {
        guard count <= available - used else { return false }
        used += count
        return true
    }
}
