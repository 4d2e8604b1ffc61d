/// What tells one content of one file from another without reading it.
///
/// An equal fingerprint means the same bytes, unless it is racy. A different one means *hash
/// again*, never *changed*: link, unlink and rename of another name change the change time too.
package struct FileFingerprint: Hashable, Sendable {
    package var inode: UInt64
    package var birth: FileStatus.Nanoseconds
    package var size: UInt64
    package var modified: FileStatus.Nanoseconds
    package var changed: FileStatus.Nanoseconds

    package static let byteCount = 40
    /// Times of files step in jiffies: within two of them a write can leave no trace.
    package static let granules: FileStatus.Nanoseconds = 2 * 4_000_000

    package init(_ status: FileStatus) {
        inode = status.inode
        birth = status.birth
        size = status.size
        modified = status.modified
        changed = status.changed
    }

    /// The fingerprint that `bytes` gave; `nil` where they are none.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        let words = bytes.withUnsafeBytes { raw in
            (0..<5).map {
                UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
            }
        }
        inode = words[0]
        birth = Int64(bitPattern: words[1])
        size = words[2]
        modified = Int64(bitPattern: words[3])
        changed = Int64(bitPattern: words[4])
    }

    /// 40 bytes for a database row.
    package var bytes: [UInt8] {
        [
            inode, UInt64(bitPattern: birth), size, UInt64(bitPattern: modified),
            UInt64(bitPattern: changed),
        ].flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) }
    }

    /// Whether inode and birth time are those of `other`: the same file, whatever its bytes.
    package func isSameFile(as other: FileFingerprint) -> Bool {
        inode == other.inode && birth == other.birth
    }

    /// Whether the file was touched so shortly before `now` (wall clock) that a later write
    /// could have left the same times: read it again later.
    package func isRacy(now: FileStatus.Nanoseconds) -> Bool {
        modified > now - Self.granules || changed > now - Self.granules
    }
}
