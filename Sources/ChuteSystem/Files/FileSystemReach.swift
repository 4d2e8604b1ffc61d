import CLinux

/// What kind of file system a descriptor lies on, as far as events and leases can be believed.
package enum FileSystemReach: Sendable {
    /// All writers are processes of this machine: events are complete, leases see writers.
    case local
    /// Others may write without a word: neither events nor leases prove anything.
    case remote

    /// Calls `fstatfs`.
    package static func of(_ file: borrowing FileDescriptor) throws(SystemError) -> FileSystemReach
    {
        var type = UInt64(0)
        var id = UInt64(0)
        _ = try retrying("fstatfs") { chute_file_system_type(file.raw, &type, &id) }
        return of(type: type)
    }

    /// Judges the number that `statfs` calls `f_type`.
    package static func of(type: UInt64) -> FileSystemReach {
        // Sign extension differs between architectures: 32 bits are all there is.
        remoteTypes.contains(UInt32(truncatingIfNeeded: type)) ? .remote : .local
    }

    private static let remoteTypes: Set<UInt32> = [
        0x6969,  // NFS
        0x517B, 0xFE53_4D42, 0xFF53_4D42,  // SMB, SMB2, CIFS
        0x6573_5546,  // FUSE: sshfs, and all that a program may do behind it
        0x0102_1997,  // 9P
        0x00C3_6400,  // Ceph
        0x5346_414F, 0x6B41_4653,  // AFS, kAFS
        0x7375_7245,  // Coda
        0x564C,  // NCP
        0x7461_636F, 0x0116_1970, 0x0BD0_0BD0,  // OCFS2, GFS2, Lustre
        0x786F_4256, 0xBACB_ACBC, 0x7C7C_6673,  // shares of virtual machines
    ]
}
