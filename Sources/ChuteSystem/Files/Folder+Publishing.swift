import CLinux
import Glibc

extension Folder {
    /// The folder above this one; `/` is its own. Calls `openat`.
    package func parent() throws(SystemError) -> Folder {
        Folder(try .open("..", in: descriptor.raw, O_RDONLY | O_DIRECTORY))
    }

    /// The status of the folder itself.
    package func status() throws(SystemError) -> FileStatus { try descriptor.status() }

    /// Opens the folder `name` in this one, making it where it is missing.
    ///
    /// Follows no link: `ELOOP` or `ENOTDIR` where something else has the name. With `mode`, a
    /// folder that is made gets exactly these bits, its inherited setgid bit kept; without, 0777
    /// less the umask.
    package func folder(
        making name: BytePath, mode: UInt32?
    ) throws(SystemError) -> Folder {
        do throws(SystemError) { return try folder(at: name) } catch {
            guard error.code == ENOENT else { throw error }
        }
        let isNew = try makeFolder(name, mode: mode.map { $0 & 0o777 } ?? 0o777)
        let made = try folder(at: name)
        if isNew, let mode {
            let inherited = try made.status().mode & UInt32(S_ISGID)
            try made.descriptor.setMode((mode & 0o777) | inherited)
        }
        return made
    }

    /// `renameExclusively` where `orLinking`; without, `EINVAL` where the file system cannot.
    ///
    /// Calls `renameat2(RENAME_NOREPLACE)`.
    package func renameExclusively(
        _ name: BytePath, to target: BytePath, in folder: borrowing Folder, orLinking: Bool
    ) throws(SystemError) {
        if orLinking { return try renameExclusively(name, to: target, in: folder) }
        let other = folder.descriptor.raw
        let result = name.withCString { from in
            target.withCString { to in
                chute_renameat2(descriptor.raw, from, other, to, chute_RENAME_NOREPLACE)
            }
        }
        guard result == 0 else { throw .current("renameat2", target) }
    }
}
