import CLinux
import Glibc

/// What `statx` says of a file.
package struct FileStatus: Hashable, Sendable {
    /// Nanoseconds since 1970; negative before it.
    package typealias Nanoseconds = Int64

    package var device: UInt64
    package var mount: UInt64
    package var inode: UInt64
    /// Zero where the file system does not keep birth times.
    package var birth: Nanoseconds
    package var size: UInt64
    /// Bytes that the file takes on disk.
    package var allocated: UInt64
    package var modified: Nanoseconds
    package var changed: Nanoseconds
    /// Type and permission bits.
    package var mode: UInt32
    package var links: UInt32
    package var owner: UInt32

    package enum Kind: Sendable { case regular, directory, symlink, other }

    package var kind: Kind {
        switch mode & UInt32(S_IFMT) {
        case UInt32(S_IFREG): .regular
        case UInt32(S_IFDIR): .directory
        case UInt32(S_IFLNK): .symlink
        default: .other
        }
    }

    /// The status of `path` below the open folder `directory`. Calls `statx`.
    package static func of(
        _ path: BytePath, in directory: Int32 = AT_FDCWD, followingLinks: Bool = false
    ) throws(SystemError) -> FileStatus {
        var raw = chute_file_status()
        let result = path.withCString {
            chute_statx(directory, $0, followingLinks ? 1 : 0, &raw)
        }
        guard result == 0 else { throw .current("statx", path) }
        return FileStatus(raw)
    }

    /// The status of an open file. Calls `statx(AT_EMPTY_PATH)`.
    package static func of(descriptor: Int32) throws(SystemError) -> FileStatus {
        var raw = chute_file_status()
        guard chute_fstatx(descriptor, &raw) == 0 else { throw .current("statx") }
        return FileStatus(raw)
    }

    private init(_ raw: chute_file_status) {
        func time(_ seconds: Int64, _ nanoseconds: UInt32) -> Nanoseconds {
            // A stamp outside the years 1678 to 2262 does not fit: it is cut, not trapped on.
            let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            guard !overflow else { return seconds < 0 ? .min : .max }
            let (sum, carry) = scaled.addingReportingOverflow(Int64(nanoseconds))
            return carry ? .max : sum
        }
        device = raw.device
        mount = raw.mount
        inode = raw.inode
        birth = raw.has_birth_time != 0 ? time(raw.born_seconds, raw.born_nanoseconds) : 0
        size = raw.size
        allocated = raw.blocks * 512
        modified = time(raw.modified_seconds, raw.modified_nanoseconds)
        changed = time(raw.changed_seconds, raw.changed_nanoseconds)
        mode = raw.mode
        links = raw.links
        owner = raw.owner
    }
}

extension FileStatus {
    /// Whom the files belong to that this process makes. Calls `geteuid`.
    package static var ownUser: UInt32 { geteuid() }

    /// The wall clock, as files are stamped by it. Calls `clock_gettime(CLOCK_REALTIME)`.
    package static var now: Nanoseconds {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let (scaled, overflow) = Int64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : scaled &+ Int64(now.tv_nsec)
    }
}
