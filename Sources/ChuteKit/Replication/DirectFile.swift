import ChuteSystem
import Glibc
import Synchronization

/// A staged file of an attachment so large that its pieces go past the page cache.
///
/// The cache would only cost time, and push out what is in use: nobody opens a film at once as
/// they do a picture. Where the file system cannot, bytes go through the cache all the same.
///
/// ## Concurrency
/// `write` blocks and is for one queue; `end` may be called from anywhere.
final class DirectFile: Sendable {
    private let descriptor: FileDescriptor
    private let isOver = Atomic(false)

    /// An attachment of fewer bytes is written through the cache.
    private static let leastByteCount: UInt64 = 64 << 20

    /// Whether a piece of an attachment can be written so: all but a last one of odd length.
    static func takes(_ buffer: PieceBuffer, of attachment: AttachmentID) -> Bool {
        attachment.byteCount >= leastByteCount
            && buffer.bytes.count % FileDescriptor.directAlignment == 0
    }

    /// Opens a file that is open as `number` once more.
    init(reopening number: Int32) throws(SystemError) {
        descriptor = try .open(BytePath("/proc/self/fd/\(number)"), O_WRONLY | O_NONBLOCK)
        _ = descriptor.setDirect(true)
    }

    /// Writes a piece at `offset`; nothing once the file has been ended.
    func write(_ buffer: PieceBuffer, at offset: UInt64) throws(SystemError) {
        guard !isOver.load(ordering: .acquiring) else { return }
        let bytes = UnsafeRawBufferPointer(buffer.bytes)
        do throws(SystemError) {
            try descriptor.write(bytes, at: offset)
        } catch {
            // It asks for more than alignment to pages, or cannot after all.
            guard error.code == EINVAL, descriptor.setDirect(false) else { throw error }
            try descriptor.write(bytes, at: offset)
        }
    }

    /// From now on nothing is written: the file is somebody else's.
    func end() { isOver.store(true, ordering: .releasing) }
}
