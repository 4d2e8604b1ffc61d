import CLinux
import Glibc

extension FileDescriptor {
    /// Sets the permission bits. Calls `fchmod`.
    package func setMode(_ mode: UInt32) throws(SystemError) {
        _ = try retrying("fchmod") { fchmod(raw, mode) }
    }

    /// Sets the time of the last change of content, to the nanosecond. Calls `futimens`.
    package func setModified(_ time: FileStatus.Nanoseconds) throws(SystemError) {
        let billion: Int64 = 1_000_000_000
        var (seconds, rest) = time.quotientAndRemainder(dividingBy: billion)
        if rest < 0 { (seconds, rest) = (seconds - 1, rest + billion) }
        let omitted = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)  // UTIME_OMIT
        let times = [omitted, timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))]
        _ = try retrying("futimens") { futimens(raw, times) }
    }

    /// Gives the file, made elsewhere, the group and access list that `open` would have given it
    /// in `folder`: the group of a setgid folder, the folder's default list.
    ///
    /// Set the mode afterwards: the list may bring execute bits. Calls `fchown` and `fsetxattr`.
    package func inheritAccess(from folder: borrowing Folder) throws(SystemError) {
        var parent = stat()
        var own = stat()
        _ = try retrying("fstat") { fstat(folder.descriptor.raw, &parent) }
        _ = try retrying("fstat") { fstat(raw, &own) }
        if parent.st_mode & UInt32(S_ISGID) != 0, parent.st_gid != own.st_gid {
            _ = try retrying("fchown") { fchown(raw, UInt32.max, parent.st_gid) }
        }
        let directory = folder.descriptor.raw
        _ = try retrying("fsetxattr") { chute_inherit_access(raw, directory) }
    }

    /// Whether another program has this file open for writing or mapped writable; `nil` where
    /// the kernel does not tell us.
    ///
    /// Takes a read lease and gives it back. `SIGIO`, which the kernel sends to the holder when
    /// somebody opens the file in that moment, is ignored from the first call on: by default it
    /// ends the process. Calls `fcntl(F_SETLEASE)`.
    package func hasWriter() -> Bool? {
        _ = Self.leaseSignalIsIgnored
        if chute_read_lease(raw, 1) == 0 {
            _ = chute_read_lease(raw, 0)
            return false
        }
        return errno == EAGAIN ? true : nil
    }

    private static let leaseSignalIsIgnored: Bool = {
        signal(SIGIO, SIG_IGN)
        return true
    }()

    /// Makes this number stand for what `other` has open, at one moment; what it had open before
    /// is closed. Calls `dup3`.
    package func become(_ other: borrowing FileDescriptor) throws(SystemError) {
        let (from, to) = (other.raw, raw)
        _ = try retrying("dup3") { chute_duplicate_onto(from, to) }
    }

    /// Fills this empty file with the bytes of `source`, sharing them where the file system can.
    ///
    /// Calls `ioctl(FICLONE)`, else `copy_file_range`, else reads and writes. Not durable until
    /// synced.
    package func copyContents(of source: borrowing FileDescriptor) throws(SystemError) {
        let (to, from) = (raw, source.raw)
        if chute_clone_file(to, from) == 0 { return }
        let size = try source.status().size
        var offset: UInt64 = 0
        while offset < size {
            let at = Int64(offset)
            let count = chute_copy_file_range(from, at, to, at, Int(min(size - offset, 64 << 20)))
            if count > 0 {
                offset += UInt64(count)
            } else if count == 0 || [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) {
                break
            } else if errno != EINTR {
                throw .current("copy_file_range")
            }
        }
        while true {
            let piece = try source.read(count: 1 << 20, at: offset)
            if piece.isEmpty { return }
            try write(piece, at: offset)
            offset += UInt64(piece.count)
        }
    }

    /// Gives this file the owner, group and extended attributes of `source`; `nil` where all of
    /// them could be set, else why one could not. The others are set.
    ///
    /// Set the mode afterwards: a change of owner drops bits. Calls `fchown` and `fsetxattr`.
    package func copyAttributes(of source: borrowing FileDescriptor) -> SystemError? {
        let (to, from) = (raw, source.raw)
        return chute_copy_attributes(to, from) == 0 ? nil : .current("fsetxattr")
    }

    /// Whether `ioctl(FICLONE)` works from `source` to this file.
    package func canClone(_ source: borrowing FileDescriptor) -> Bool {
        let (to, from) = (raw, source.raw)
        return chute_clone_file(to, from) == 0
    }
}
