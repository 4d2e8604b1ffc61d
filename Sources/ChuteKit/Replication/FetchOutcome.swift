import ChuteSystem

/// How fetching one want ended, or why it goes on later.
public struct FetchOutcome: Hashable, Sendable {
    /// The want.
    public let want: Want
    /// How it ended.
    public let result: Result
    /// The hashes of the pieces, for `Transaction.addLocation`.
    public let layer: [UInt8]

    /// How a fetch can end.
    public enum Result: Hashable, Sendable {
        /// All bytes are in the staged file and were hashed to the attachment's id. Not synced.
        case completed
        /// The first piece is in the staged file and was checked; nothing more was asked for.
        case sampled
        /// It could not be written now; it is tried again by itself.
        case waiting(reason: String, isNoSpace: Bool)
        /// A member sent other bytes. It goes on with whoever has the right ones.
        case mismatch(from: DeviceID)
    }
}
