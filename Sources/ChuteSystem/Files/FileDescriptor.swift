import CLinux
import Glibc

/// Owns one descriptor; closes it when it goes.
///
/// Not copyable, so that nobody closes it twice. All calls may block.
package struct FileDescriptor: ~Copyable, Sendable {
    package let raw: Int32

    package init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }

    /// Gives the number away; whoever takes it closes it.
    package consuming func release() -> Int32 {
        let number = raw
        discard self
        return number
    }

    /// Opens `path` below the open folder `directory`. Calls `openat` with `O_CLOEXEC`.
    package static func open(
        _ path: BytePath, in directory: Int32 = AT_FDCWD, _ flags: Int32, mode: UInt32 = 0o666
    ) throws(SystemError) -> FileDescriptor {
        let raw = try path.withCString { pointer throws(SystemError) in
            try retrying("openat", path) { openat(directory, pointer, flags | O_CLOEXEC, mode) }
        }
        return FileDescriptor(owning: raw)
    }

    /// Opens `path`, which cannot leave `directory`, not by `..` and not by a link.
    ///
    /// Calls `openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`; `ELOOP` where a link
    /// stands in the way, `EXDEV` where the path leads out.
    package static func openBeneath(
        _ path: BytePath, in directory: Int32, _ flags: Int32, mode: UInt32 = 0o666
    ) throws(SystemError) -> FileDescriptor {
        let name = path.isEmpty ? BytePath(".") : path
        let raw = try name.withCString { pointer throws(SystemError) in
            try retrying("openat2", path) {
                chute_openat2_beneath(directory, pointer, flags, mode)
            }
        }
        return FileDescriptor(owning: raw)
    }

    package func status() throws(SystemError) -> FileStatus { try FileStatus.of(descriptor: raw) }

    /// Reads at `offset` until `buffer` is full or the file ends; the count read.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            guard let start = buffer.baseAddress else { break }
            let count = try retrying("pread") {
                pread(raw, start + done, buffer.count - done, off_t(offset) + off_t(done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Up to `count` bytes at `offset`; fewer where the file ends.
    package func read(count: Int, at offset: UInt64) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of `bytes` at `offset`.
    package func write(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            guard let start = bytes.baseAddress else { break }
            done += try retrying("pwrite") {
                pwrite(raw, start + done, bytes.count - done, off_t(offset) + off_t(done))
            }
        }
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { buffer in
            do throws(SystemError) { try write(buffer, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Makes bytes and metadata survive a power cut. Calls `fsync`.
    package func sync() throws(SystemError) { _ = try retrying("fsync") { fsync(raw) } }

    /// Makes the bytes, and the size they need, survive a power cut. Calls `fdatasync`.
    package func syncData() throws(SystemError) { _ = try retrying("fdatasync") { fdatasync(raw) } }

    /// Makes all of the file system that holds this descriptor survive a power cut.
    ///
    /// Reports an error of any write since this descriptor was opened: open it before the first
    /// write. Calls `syncfs`.
    package func syncFileSystem() throws(SystemError) {
        _ = try retrying("syncfs") { chute_syncfs(raw) }
    }

    /// Starts writing dirty pages without waiting. A hint: failure costs only time.
    package func startWriteback(from offset: UInt64, count: UInt64) {
        _ = chute_start_writeback(raw, Int64(offset), Int64(count))
    }

    /// Whether reads and writes go past the page cache from now on; `false` where the file system
    /// cannot. They then begin, end and lie in memory at multiples of `directAlignment`, or fail
    /// with `EINVAL`. Calls `fcntl(F_SETFL)` with `O_DIRECT`.
    package func setDirect(_ isDirect: Bool) -> Bool {
        chute_set_direct(raw, isDirect ? 1 : 0) == 0
    }

    /// In bytes: the page size, which no file system in use asks more than.
    package static var directAlignment: Int { 4096 }

    /// Cuts or extends the file. Calls `ftruncate`.
    package func truncate(to size: UInt64) throws(SystemError) {
        _ = try retrying("ftruncate") { ftruncate(raw, off_t(size)) }
    }
}

extension FileDescriptor {
    /// Where the next bytes that are not a hole begin; `nil` where there are none.
    ///
    /// A file system without holes says that all is data. Calls `lseek(SEEK_DATA)`; moves the
    /// descriptor's own position, which nothing here uses.
    package func nextData(from offset: UInt64) -> UInt64? {
        let found = chute_seek_data(raw, Int64(offset))
        return found < 0 ? nil : UInt64(found)
    }

    /// Where the next hole begins, at the latest the end of the file. Calls `lseek(SEEK_HOLE)`.
    package func nextHole(from offset: UInt64) -> UInt64? {
        let found = chute_seek_hole(raw, Int64(offset))
        return found < 0 ? nil : UInt64(found)
    }
}

extension FileDescriptor {
    package static var readOnly: Int32 { O_RDONLY | O_NONBLOCK | O_NOFOLLOW }
    /// For a path that somebody names: a link at its end is followed.
    package static var readOnlyFollowing: Int32 { O_RDONLY | O_NONBLOCK }
    package static var readWrite: Int32 { O_RDWR | O_NONBLOCK | O_NOFOLLOW }
    package static var readWriteCreate: Int32 { O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW }

    /// Takes the write lock on the whole file for this open description; `false` where another
    /// has it. Goes with the last descriptor. Calls `fcntl(F_OFD_SETLK)`.
    package func tryLock() throws(SystemError) -> Bool {
        if chute_lock_whole_file(raw) == 0 { return true }
        if errno == EAGAIN || errno == EACCES { return false }
        throw .current("fcntl")
    }

    /// Gives the lock back at once, also where a child that has not run its own program yet
    /// shares the description. Calls `fcntl(F_OFD_SETLK)`.
    package func unlock() throws(SystemError) {
        _ = try retrying("fcntl") { chute_unlock_whole_file(raw) }
    }

    /// Whether another open description has the lock. Calls `fcntl(F_OFD_GETLK)`.
    package func isLocked() throws(SystemError) -> Bool {
        let result = chute_whole_file_is_locked(raw)
        guard result >= 0 else { throw .current("fcntl") }
        return result == 1
    }
}
