import ChuteSystem

/// Hashes files to the names of their bytes. Keeps its memory from file to file; not `Sendable`:
/// whoever hashes owns one.
public final class AttachmentHasher {
    /// What a file was when it was read.
    public struct Hashed: Hashable, Sendable {
        /// The name of the bytes that were read.
        public let attachment: AttachmentID
        /// The hashes of its pieces, for `Transaction.addLocation`; empty for up to 1 MiB.
        public let layer: [UInt8]
    }

    private let hasher = PieceTree.FileHasher()

    /// A hasher with no more memory than a piece.
    public init() {}

    /// Reads the open file from start to end; `nil` where `shouldStop` said so.
    ///
    /// `expectedLength` decides only whether a second thread helps. A file that is written
    /// meanwhile gives the name of bytes that it may never have had together: compare its times
    /// before and after. Does not move the descriptor's position, and leaves it open. Blocks.
    public func hash(
        descriptor: Int32, expectedLength: UInt64,
        shouldStop: @Sendable () -> Bool = { Task.isCancelled }
    ) throws -> Hashed? {
        let file = FileDescriptor(owning: descriptor)
        let result = Result { () throws -> PieceTree.Summary? in
            try hasher.summary(of: file, expectedLength: expectedLength, shouldStop: shouldStop)
        }
        _ = file.release()  // it belongs to the caller
        guard let summary = try result.get(), let digest = Digest(bytes: summary.id),
            let attachment = AttachmentID(digest: digest, byteCount: summary.byteCount)
        else { return nil }
        return Hashed(attachment: attachment, layer: summary.layer)
    }
}
