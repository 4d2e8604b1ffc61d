import ChuteSystem
import Glibc

/// Makes files and folders that survive a power cut.
enum NewFile {
    /// Gives `path` these bytes at one moment; `EEXIST` and nothing changed where it exists.
    ///
    /// Written, synced, renamed without replacing, and the folder synced.
    static func write(_ bytes: [UInt8], to path: BytePath, mode: UInt32) throws(SystemError) {
        let folder = try Folder(at: path.parent)
        let temporary = try stage(bytes, for: path, in: folder, mode: mode)
        do {
            try folder.renameExclusively(temporary, to: path.lastComponent, in: folder)
        } catch {
            try folder.remove(temporary)
            throw error
        }
        try folder.sync()
    }

    /// Like `write`, and replaces what is there.
    static func replace(_ path: BytePath, with bytes: [UInt8], mode: UInt32) throws(SystemError) {
        let folder = try Folder(at: path.parent)
        let temporary = try stage(bytes, for: path, in: folder, mode: mode)
        try folder.rename(temporary, to: path.lastComponent)
        try folder.sync()
    }

    private static func stage(
        _ bytes: [UInt8], for path: BytePath, in folder: borrowing Folder, mode: UInt32
    ) throws(SystemError) -> BytePath {
        let suffix = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let temporary = BytePath(
            bytes: Array(".".utf8) + path.lastComponent.bytes + Array(".\(suffix)".utf8))
        let file = try folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        try file.write(bytes, at: 0)
        try file.sync()
        return temporary
    }

    /// Makes a folder and those above it that are missing; fine where it is one already.
    ///
    /// `ENOTDIR` where something else stands in the way. Calls `mkdir` and `fsync`.
    static func makeFolders(_ path: BytePath, mode: UInt32 = 0o777) throws(SystemError) {
        do throws(SystemError) {
            if try FileStatus.of(path, followingLinks: true).kind == .directory { return }
            throw SystemError(code: ENOTDIR, call: "mkdir", path: path)
        } catch {
            guard error.code == ENOENT else { throw error }
            if path.parent != path, !path.parent.isEmpty { try makeFolders(path.parent) }
        }
        let result = path.withCString { mkdir($0, mode) }
        if result != 0, errno != EEXIST { throw .current("mkdir", path) }
        try Folder(at: path.parent).sync()
    }
}
