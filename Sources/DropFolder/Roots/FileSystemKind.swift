package import ChuteSystem

/// What a file system can do, as far as an inbox or outbox has to know.
package struct FileSystemKind: Hashable, Sendable {
    /// Changes may come from another machine: no events, and a read lease proves nothing.
    package let isNetwork: Bool
    package let isFuse: Bool
    /// Refuses or folds names: VFAT, exFAT, NTFS.
    package let isFolding: Bool
    /// One `syncfs` covers a group of files cheaply: ext4, XFS, Btrfs.
    package let syncsWhole: Bool

    package var hasEvents: Bool { !isNetwork && !isFuse }

    /// Judges the magic number of `statfs`.
    package init(type: UInt64) {
        // NFS, CIFS, SMB2, SMB, Ceph, 9P, AFS, Coda, GFS2, OCFS2, Lustre
        isNetwork = [
            0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x00C3_6400, 0x0102_1997, 0x5346_414F,
            0x6B41_4653, 0x7375_7245, 0x0116_1970, 0x7461_636F, 0x0BD0_0BD0,
        ].contains(type)
        isFuse = type == 0x6573_5546
        isFolding = [0x4D44, 0x2011_BAB0, 0x7366_746E, 0x5346_544E].contains(type)
        syncsWhole = [0xEF53, 0x5846_5342, 0x9123_683E].contains(type)
    }

    package static func of(_ folder: borrowing Folder) throws(SystemError) -> FileSystemKind {
        FileSystemKind(type: try FileSystemInfo.of(descriptor: folder.descriptor.raw).type)
    }
}
