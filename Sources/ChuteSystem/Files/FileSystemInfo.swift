import CLinux
import Glibc

/// What the kernel says of the file system that holds an open file or folder.
package struct FileSystemInfo: Hashable, Sendable {
    /// The magic number of `statfs`.
    package let type: UInt64
    /// `f_fsid`: stays the same from mount to mount on most file systems, zero on some.
    package let id: UInt64
    /// Bytes that a user who is not root may still write.
    package let freeBytes: UInt64
    /// Files that can still be made; `nil` where the file system does not count them.
    package let freeFiles: UInt64?
    package let isReadOnly: Bool

    package init(
        type: UInt64, id: UInt64, freeBytes: UInt64, freeFiles: UInt64?, isReadOnly: Bool
    ) {
        self.type = type
        self.id = id
        self.freeBytes = freeBytes
        self.freeFiles = freeFiles
        self.isReadOnly = isReadOnly
    }

    /// Calls `fstatfs` and `fstatvfs`.
    package static func of(descriptor: Int32) throws(SystemError) -> FileSystemInfo {
        var type: UInt64 = 0
        var id: UInt64 = 0
        _ = try retrying("fstatfs") { chute_file_system_type(descriptor, &type, &id) }
        var counts = statvfs()
        _ = try retrying("fstatvfs") { fstatvfs(descriptor, &counts) }
        let (bytes, overflow) = UInt64(counts.f_bavail)
            .multipliedReportingOverflow(by: UInt64(counts.f_frsize))
        return FileSystemInfo(
            type: type & 0xFFFF_FFFF, id: id, freeBytes: overflow ? .max : bytes,
            freeFiles: counts.f_files == 0 ? nil : UInt64(counts.f_favail),
            isReadOnly: counts.f_flag & UInt(ST_RDONLY) != 0)
    }
}
