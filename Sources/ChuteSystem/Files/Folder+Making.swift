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

    /// Opens a new file of this folder's file system that has no name and goes with its last
    /// descriptor, unless `link(_:to:)` gives it one; `nil` where the file system has no such.
    ///
    /// Mode 0666 less the umask. Calls `openat(O_TMPFILE)`.
    package func openUnnamed() throws(SystemError) -> FileDescriptor? {
        do throws(SystemError) {
            return FileDescriptor(
                owning: try retrying("openat") { chute_open_temporary(descriptor.raw, 0o666) })
        } catch {
            // EISDIR: a kernel that does not know the flag opens the folder.
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.code) else { throw error }
            return nil
        }
    }
}
