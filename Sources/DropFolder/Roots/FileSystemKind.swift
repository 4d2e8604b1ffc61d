package import ChuteSystem

/// What a file system can do, as far as folders that are written to have to know. Whether others write to it
/// unseen says `FileSystemReach`.
package struct FileSystemKind: Hashable, Sendable {
    /// Refuses or folds names: VFAT, exFAT, NTFS.
    package let isFolding: Bool
    /// One `syncfs` covers a group of files cheaply: ext4, XFS, Btrfs.
    package let syncsWhole: Bool
    /// `f_fsid` comes from the volume itself or is made anew with each mount: ext2 to ext4, Btrfs,
    /// bcachefs, ZFS, tmpfs. Of VFAT, exFAT, XFS, F2FS and others it is the number of the device,
    /// which the next drive to be plugged in has too.
    package let namesVolume: Bool

    /// Judges the magic number of `statfs`.
    package init(type: UInt64) {
        isFolding = [0x4D44, 0x2011_BAB0, 0x7366_746E, 0x5346_544E].contains(type)
        syncsWhole = [0xEF53, 0x5846_5342, 0x9123_683E].contains(type)
        namesVolume = [0xEF53, 0x9123_683E, 0xCA45_1A4E, 0x2FC1_2FC1, 0x0102_1994].contains(type)
    }

    package static func of(_ folder: borrowing Folder) throws(SystemError) -> FileSystemKind {
        FileSystemKind(type: try FileSystemInfo.of(descriptor: folder.descriptor.raw).type)
    }
}
