package import ChuteSystem

/// A file as its file system numbers it. The birth time tells a number that was used again.
package struct InodeIdentity: Hashable, Sendable {
    package let inode: UInt64
    package let birth: FileStatus.Nanoseconds

    package init(inode: UInt64, birth: FileStatus.Nanoseconds) {
        self.inode = inode
        self.birth = birth
    }

    package init(_ status: FileStatus) {
        self.init(inode: status.inode, birth: status.birth)
    }
}

/// What tells whether a published copy was touched: inode, birth time, size and both times.
package struct CopyFingerprint: Hashable, Sendable {
    package let identity: InodeIdentity
    package let size: UInt64
    package let modified: FileStatus.Nanoseconds
    package let changed: FileStatus.Nanoseconds

    package init(
        identity: InodeIdentity, size: UInt64, modified: FileStatus.Nanoseconds,
        changed: FileStatus.Nanoseconds
    ) {
        self.identity = identity
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    package init(_ status: FileStatus) {
        self.init(
            identity: InodeIdentity(status), size: status.size, modified: status.modified,
            changed: status.changed)
    }

    /// Whether the other differs at most in the change time, which our own rename moves.
    package func isSameButChanged(_ other: CopyFingerprint) -> Bool {
        identity == other.identity && size == other.size && modified == other.modified
    }
}
