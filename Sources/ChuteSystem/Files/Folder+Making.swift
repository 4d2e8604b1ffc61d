import CLinux
import Glibc

extension Folder {
    /// Makes a folder at `path` and what is missing above it, each synced into its parent.
    ///
    /// `mode` is for the last one; those above get 0777 less the umask. Exists: nothing happens.
    package static func make(_ path: BytePath, mode: UInt32 = 0o777) throws(SystemError) {
        let parent = path.parent
        let isTop = parent.isEmpty || parent == path
        do throws(SystemError) {
            let above = try Folder(at: parent.isEmpty ? "." : parent)
            if try above.makeFolder(path.lastComponent, mode: mode) { try above.sync() }
        } catch {
            guard error.code == ENOENT, !isTop else { throw error }
            try make(parent)
            let above = try Folder(at: parent)
            if try above.makeFolder(path.lastComponent, mode: mode) { try above.sync() }
        }
    }

    /// Whether the folder lies on a network file system, where locks and events prove nothing.
    /// Calls `fstatfs`.
    package func isOnNetwork() throws(SystemError) -> Bool {
        var type: UInt64 = 0
        var identity: UInt64 = 0
        guard chute_file_system_type(descriptor.raw, &type, &identity) == 0 else {
            throw .current("fstatfs")
        }
        return Self.networkTypes.contains(type & 0xFFFF_FFFF)
    }

    /// NFS, SMB, CIFS, SMB2, CODA, AFS, Ceph, 9P, OCFS2, GFS2: numbers of statfs(2).
    private static let networkTypes: Set<UInt64> = [
        0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x7375_7245, 0x5346_414F, 0x00C3_6400,
        0x0102_1997, 0x7461_636F, 0x0116_1970,
    ]
}
