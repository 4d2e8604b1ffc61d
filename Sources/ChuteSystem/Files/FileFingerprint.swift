/// What a file looked like from outside when its bytes were read.
///
/// A different fingerprint means "hash again", never "changed". Our own link, unlink and rename
/// change `changed` too: take it anew in the same step.
package struct FileFingerprint: Hashable, Sendable {
    package typealias Nanoseconds = FileStatus.Nanoseconds

    package var inode: UInt64
    /// Zero where the file system does not keep birth times.
    package var birth: Nanoseconds
    package var size: UInt64
    package var modified: Nanoseconds
    package var changed: Nanoseconds

    package init(
        inode: UInt64, birth: Nanoseconds, size: UInt64, modified: Nanoseconds,
        changed: Nanoseconds
    ) {
        self.inode = inode
        self.birth = birth
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    package init(_ status: FileStatus) {
        self.init(
            inode: status.inode, birth: status.birth, size: status.size,
            modified: status.modified, changed: status.changed)
    }

    /// The very file, whatever became of its bytes. File systems reuse inode numbers at once, so
    /// the birth time belongs to it; without one an equal number proves nothing.
    package func isSameFile(as other: FileFingerprint) -> Bool {
        inode == other.inode && birth == other.birth && birth != 0
    }

    /// Nothing but `changed` differs: mode, owner, links or name, but hardly the bytes.
    package func hasSameContentTimes(as other: FileFingerprint) -> Bool {
        inode == other.inode && birth == other.birth && size == other.size
            && modified == other.modified
    }

    /// The same file, also where the file system knows no birth times and the bytes are the same.
    package func isOfSameFile(as other: FileFingerprint) -> Bool {
        isSameFile(as: other) || hasSameContentTimes(as: other)
    }

    /// Two ticks of the coarsest clock that stamps files.
    private static let granules: UInt64 = 10_000_000

    /// A write right after the read could leave the same stamps: hash again later.
    ///
    /// `now` is the wall clock at the read. Stamps far off in the future are no reason, or a
    /// camera with a wrong clock would never come to rest.
    package func isRacy(now: Nanoseconds) -> Bool {
        func isNear(_ stamp: Nanoseconds) -> Bool {
            let (distance, overflow) = now.subtractingReportingOverflow(stamp)
            return !overflow && distance.magnitude < Self.granules
        }
        return isNear(modified) || isNear(changed)
    }

    /// Length of `encoded`.
    package static let encodedByteCount = 40

    /// Five big-endian numbers of 8 bytes: inode, birth, size, modified, changed.
    package var encoded: [UInt8] {
        let numbers = [
            inode, UInt64(bitPattern: birth), size, UInt64(bitPattern: modified),
            UInt64(bitPattern: changed),
        ]
        return numbers.flatMap { number in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
    }

    /// `nil` where `encoded` is not of the right length.
    package init?(encoded: some Collection<UInt8>) {
        guard encoded.count == Self.encodedByteCount else { return nil }
        var numbers: [UInt64] = []
        var rest = encoded[...]
        while !rest.isEmpty {
            numbers.append(rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
            rest = rest.dropFirst(8)
        }
        self.init(
            inode: numbers[0], birth: Int64(bitPattern: numbers[1]), size: numbers[2],
            modified: Int64(bitPattern: numbers[3]), changed: Int64(bitPattern: numbers[4]))
    }
}
