package import ChuteSystem
import Glibc

/// `<outbox>/.chute/staging/<start>/`: where files get their bytes before they get their name.
///
/// One per start of the agent, on the outbox's own file system, so that publishing is a rename.
/// All calls block.
package final class StagingFolder: Sendable {
    /// The random name of this start.
    package let start: BytePath
    package let folder: Folder
    /// Opened before the first write, so that `syncfs` on it reports every write that failed.
    let wholeSync: FileDescriptor

    private init(start: BytePath, folder: consuming Folder) throws(SystemError) {
        self.start = start
        wholeSync = try .open(".", in: folder.descriptor.raw, O_RDONLY | O_DIRECTORY)
        self.folder = folder
    }

    /// Makes the folder of a new start and syncs it and what leads to it.
    package static func make(in root: FolderRoot) throws(SystemError) -> StagingFolder {
        let all = try root.privateFolder("staging")
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        let start = BytePath(digits.joined(separator: "-"))
        try all.makeFolder(start, mode: 0o700)
        let folder = try all.folder(at: start)
        try folder.sync()
        try all.sync()
        return try StagingFolder(start: start, folder: folder)
    }

    /// Opens the folder of an earlier start, for recovery; `nil` where it is gone.
    package static func reopen(
        _ start: BytePath, in root: FolderRoot
    ) throws(SystemError) -> StagingFolder? {
        guard isPlainName(start) else { return nil }
        let all = try root.privateFolder("staging")
        guard let status = try all.status(of: start), status.kind == .directory else { return nil }
        return try StagingFolder(start: start, folder: try all.folder(at: start))
    }

    /// Whether the folder is still where it was made. Somebody may tidy up.
    func isInPlace(in root: FolderRoot) throws(SystemError) -> Bool {
        do throws(SystemError) {
            let path = BytePath(".chute/staging").appending(start)
            let (there, own) = (
                try root.folder.status(of: path), try folder.descriptor.status()
            )
            return there.map { InodeIdentity($0) } == InodeIdentity(own)
        } catch {
            guard error.isNotFound || error.code == ENOTDIR else { throw error }
            return false
        }
    }

    /// Makes an empty file to be filled. `EEXIST` where the name is taken.
    ///
    /// Its mode is 0666 less the umask, or what a default access list says: nobody but the owner
    /// gets into `.chute`. Calls `openat2` with `O_CREAT`, `O_EXCL` and `O_NOFOLLOW`.
    package func create(_ name: BytePath) throws(SystemError) -> StagedFile {
        let file = try folder.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o666)
        return try StagedFile(name: name, staging: self, descriptor: file)
    }

    /// Opens a file staged earlier; `nil` where there is none or it is no regular file.
    package func reopen(_ name: BytePath) throws(SystemError) -> StagedFile? {
        guard Self.isPlainName(name), let status = try folder.status(of: name),
            status.kind == .regular
        else { return nil }
        return try StagedFile(
            name: name, staging: self, descriptor: try folder.open(name, O_RDWR | O_NONBLOCK))
    }

    /// A staged copy of an open file, sharing its blocks where the file system can: a second
    /// name never is a second link. Not synced.
    package func copy(
        of source: borrowing FileDescriptor, to name: BytePath
    ) throws(SystemError) -> StagedFile {
        let staged = try create(name)
        do throws(SystemError) { try staged.descriptor.copyContents(of: source) } catch {
            try staged.discard()
            throw error
        }
        return staged
    }

    private static func isPlainName(_ name: BytePath) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.bytes.contains(0)
            && !name.bytes.contains(BytePath.separator)
    }
}
