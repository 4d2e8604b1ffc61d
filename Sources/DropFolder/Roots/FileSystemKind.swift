package import ChuteSystem

/// What a file system can do, as far as an outbox has to know. Whether others write to it
/// unseen says `FileSystemReach`.
package struct FileSystemKind: Hashable, Sendable {
    /// Refuses or folds names: VFAT, exFAT, NTFS.
    package let isFolding: Bool
    /// One `syncfs` covers a group of files cheaply: ext4, XFS, Btrfs.
    package let syncsWhole: Bool

    /// Judges the magic number of `statfs`.
    package init(type: UInt64) {
        isFolding = [0x4D44, 0x2011_BAB0, 0x7366_746E, 0x5346_544E].contains(type)
        syncsWhole = [0xEF53, 0x5846_5342, 0x9123_683E].contains(type)
    }

    package static func of(_ folder: borrowing Folder) throws(SystemError) -> FileSystemKind {
        FileSystemKind(type: try FileSystemInfo.of(descriptor: folder.descriptor.raw).type)
    }
}
