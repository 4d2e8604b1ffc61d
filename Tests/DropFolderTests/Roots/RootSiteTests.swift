import DropFolder
import Testing

@testable import ChuteSystem

struct RootSiteTests {
    private func volume(_ type: UInt64, id: UInt64 = 7) -> UInt64? {
        RootSite.volume(
            of: FileSystemInfo(
                type: type, id: id, freeBytes: 1, freeFiles: nil, isReadOnly: false))
    }

    @Test(arguments: [0xEF53, 0x9123_683E, 0xCA45_1A4E, 0x2FC1_2FC1, 0x0102_1994] as [UInt64])
    func `a file system that is named by its volume has a site`(type: UInt64) {
        #expect(volume(type) == 7)
        // Kernels that do not name it say so.
        #expect(volume(type, id: 0) == nil)
    }

    /// VFAT, exFAT, XFS, F2FS, NTFS of both drivers, FUSE, NFS, overlay, and one that nobody knows.
    @Test(
        arguments: [
            0x4D44, 0x2011_BAB0, 0x5846_5342, 0xF2F5_2010, 0x7366_746E, 0x5346_544E, 0x6573_5546,
            0x6969, 0x794C_7630, 0x1234_5678,
        ] as [UInt64])
    func `another stick in the same socket passed for the folder that was made anew`(
        type: UInt64
    ) {
        #expect(volume(type) == nil)
    }
}
