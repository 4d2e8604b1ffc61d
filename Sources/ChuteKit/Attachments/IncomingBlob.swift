import ChuteSystem

/// Bytes on their way into the blob folder: a staged file, and what they hash to so far.
///
/// Belongs to `BlobFolder`.
final class IncomingBlob {
    let name: BytePath
    let file: FileDescriptor
    private(set) var byteCount: UInt64 = 0
    private var hasher: PieceTree.StreamHasher? = PieceTree.StreamHasher()
    /// What a file hashed to that was shared instead of copied.
    private var summary: PieceTree.Summary?

    private static let writebackStep: UInt64 = 8 << 20

    init(name: BytePath, file: consuming FileDescriptor) {
        self.name = name
        self.file = file
    }

    /// Writes and hashes the next bytes. Starts write-back as they gather.
    func append(_ bytes: [UInt8]) throws(SystemError) {
        try file.write(bytes, at: byteCount)
        bytes.withUnsafeBytes { hasher?.update($0) }
        let before = byteCount
        byteCount += UInt64(bytes.count)
        if byteCount / Self.writebackStep > before / Self.writebackStep {
            file.startWriteback(from: 0, count: byteCount)
        }
    }

    /// The file has all its bytes already, and these are they.
    func fill(_ summary: PieceTree.Summary) {
        self.summary = summary
        byteCount = summary.byteCount
    }

    /// What all bytes hash to. Once.
    func finish() -> PieceTree.Summary? { summary ?? hasher.take()?.finish() }
}
