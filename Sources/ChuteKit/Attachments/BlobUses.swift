import Synchronization

/// Who reads which blob right now, and when one was last used: what keeps garbage collection off.
///
/// ## Concurrency
/// Called from anywhere.
final class BlobUses: Sendable {
    private struct Use {
        var readerCount = 0
        var last = ContinuousClock.now
    }

    private let uses = Mutex<[AttachmentID: Use]>([:])

    /// Notes that the bytes were taken in, or read.
    func touch(_ attachment: AttachmentID) {
        uses.withLock { $0[attachment, default: Use()].last = .now }
    }

    /// Keeps the file in its place until `end`.
    func begin(_ attachment: AttachmentID) {
        uses.withLock { $0[attachment, default: Use()].readerCount += 1 }
    }

    func end(_ attachment: AttachmentID) {
        uses.withLock { uses in
            uses[attachment, default: Use()].readerCount -= 1
            uses[attachment]?.last = .now
        }
    }

    /// Whether somebody reads it, or has used it within `grace`; `nil` where nothing is known of
    /// it in this run.
    func isInUse(_ attachment: AttachmentID, grace: Duration) -> Bool? {
        uses.withLock { uses in
            uses[attachment].map { $0.readerCount > 0 || ContinuousClock.now - $0.last < grace }
        }
    }

    func forget(_ attachment: AttachmentID) {
        uses.withLock { uses in
            if uses[attachment]?.readerCount == 0 { uses[attachment] = nil }
        }
    }
}
