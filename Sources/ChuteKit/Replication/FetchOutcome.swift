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
        /// It could not be written now, and what the system said; it is tried again by itself.
        case waiting(WriteObstacle, reason: String)
        /// A member sent other bytes, or none can have these: `nil`. It goes on with whoever has
        /// the right ones; `isFinal` says that the member is not asked for them again.
        case mismatch(from: DeviceID?, isFinal: Bool)
    }

    /// What stands in the way of writing a staged file.
    public enum WriteObstacle: Hashable, Sendable {
        /// The disk or a quota is full.
        case noSpace
        /// The place is read-only, or belongs to somebody else.
        case unwritable
        /// Its folder is not there, or the disk has a fault.
        case unavailable
    }
}
