package import ChuteSystem
import Glibc

/// An open inbox or outbox whose identity was checked through the descriptor that is used for
/// all that happens in it.
///
/// All calls block.
package final class FolderRoot: Sendable {
    /// The folder that holds the mark, staging, held and replaced files. Never listed, 0700.
    package static let markFolder: BytePath = ".chute"
    private static let markFile: BytePath = "id"

    package enum Opening: Sendable {
        /// The folder that the row means.
        case ready(FolderRoot)
        /// Nothing there, or another folder: `waiting: not mounted`. Nothing was created.
        case notMounted
        /// No row says that this root ever existed: `establish` makes it.
        case new
    }

    package let path: BytePath
    package let folder: Folder
    package let identity: RootIdentity

    private init(path: BytePath, folder: consuming Folder, identity: RootIdentity) {
        self.path = path
        self.folder = folder
        self.identity = identity
    }

    /// Opens the root at `path` that a row expects to be `expected`; creates nothing.
    ///
    /// Throws only what is neither a missing nor another folder, such as `EACCES`.
    package static func open(
        at path: BytePath, expected: RootIdentity?
    ) throws(SystemError) -> Opening {
        guard let expected else { return .new }
        let folder: Folder
        do throws(SystemError) { folder = try Folder(at: path) } catch {
            if error.isNotFound { return .notMounted }
            throw error
        }
        guard try matches(expected, folder) else { return .notMounted }
        return .ready(FolderRoot(path: path, folder: folder, identity: expected))
    }

    /// Opens the root at `path` for the first time: makes it and the folders above it where they
    /// are missing, and marks it. A mark that is there keeps its id and gains `use`.
    ///
    /// All that was made is synced. Where a mark cannot be written (a read-only folder or file
    /// system) the root is known by its place.
    package static func establish(
        at path: BytePath, use: RootMark.Use
    ) throws(SystemError) -> FolderRoot {
        try makeFolders(to: path)
        let folder = try Folder(at: path)
        let identity = try identify(folder, use)
        return FolderRoot(path: path, folder: folder, identity: identity)
    }

    /// Adds `use` to the mark, where the folder can be written. Makes no folder but `.chute`.
    package func add(_ use: RootMark.Use) throws(SystemError) {
        do throws(SystemError) { _ = try Self.writeMark(adding: use, in: folder) } catch {
            guard [EROFS, EACCES, EPERM].contains(error.code) else { throw error }
        }
    }

    private static func identify(
        _ folder: borrowing Folder, _ use: RootMark.Use
    ) throws(SystemError) -> RootIdentity {
        do throws(SystemError) { return .marked(try writeMark(adding: use, in: folder).id) } catch {
            guard [EROFS, EACCES, EPERM].contains(error.code) else { throw error }
            if let mark = try mark(in: folder) { return .marked(mark.id) }
            return try place(of: folder)
        }
    }

    /// Whether this is still the root: the mark is in it, and `path` still leads to it. Asked
    /// before each group of files, for an unmounted or replaced folder can stay open.
    package func isInPlace() -> Bool {
        do throws(SystemError) {
            guard try Self.matches(identity, folder) else { return false }
            let own = try folder.status()
            let found = try FileStatus.of(path, followingLinks: true)
            return own.device == found.device && own.inode == found.inode
        } catch {
            return false
        }
    }

    /// Opens `.chute/<name>`, making it and syncing what was made.
    package func privateFolder(_ name: BytePath) throws(SystemError) -> Folder {
        let chute = try Self.openMarkFolder(in: folder)
        if try chute.makeFolder(name, mode: 0o700) { try chute.sync() }
        return try chute.folder(at: name)
    }

    /// The mark in `folder`; `nil` where there is none that can be read as one.
    package static func mark(in folder: borrowing Folder) throws(SystemError) -> RootMark? {
        do throws(SystemError) {
            let file = try folder.open(
                markFolder.appending(markFile), O_RDONLY | O_NONBLOCK | O_NOCTTY)
            return RootMark(text: try file.read(count: 8 << 10, at: 0))
        } catch {
            // A link or a folder in the mark's place is no mark of ours.
            if error.isNotFound || error.code == ELOOP || error.code == EISDIR { return nil }
            throw error
        }
    }

    private static func matches(
        _ expected: RootIdentity, _ folder: borrowing Folder
    ) throws(SystemError) -> Bool {
        switch expected {
        case .marked(let id): try mark(in: folder)?.id == id
        case .place: try place(of: folder) == expected
        }
    }

    private static func place(of folder: borrowing Folder) throws(SystemError) -> RootIdentity {
        let status = try folder.status()
        let info = try FileSystemInfo.of(descriptor: folder.descriptor.raw)
        return .place(fileSystem: info.id, inode: status.inode, birth: status.birth)
    }

    private static func openMarkFolder(
        in folder: borrowing Folder
    ) throws(SystemError) -> Folder {
        if try folder.makeFolder(markFolder, mode: 0o700) { try folder.sync() }
        let chute = try folder.folder(at: markFolder)
        // Staged files have their final mode: only this folder hides them. Where modes cannot be
        // set (VFAT), the mount decides who sees what.
        if try chute.status().mode & 0o077 != 0 {
            do throws(SystemError) { try chute.descriptor.setMode(0o700) } catch {
                guard error.code == EPERM || error.code == EROFS else { throw error }
            }
        }
        return chute
    }

    private static func writeMark(
        adding use: RootMark.Use, in folder: borrowing Folder
    ) throws(SystemError) -> RootMark {
        let found = try mark(in: folder)
        if let found, found.uses.contains(use) { return found }
        var mark = found ?? RootMark(uses: [])
        // What was marked while the device was alone is of the space that it joined.
        if use.space != nil { mark.uses.removeAll { $0 == RootMark.Use(use.kind, space: nil) } }
        mark.uses.append(use)
        let chute = try openMarkFolder(in: folder)
        let temporary: BytePath = "id.new"
        try chute.remove(temporary)
        let file = try chute.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try file.write(mark.text, at: 0)
        try file.sync()
        try chute.rename(temporary, to: markFile)
        try chute.sync()
        return mark
    }

    private static func makeFolders(to path: BytePath) throws(SystemError) {
        var status: FileStatus?
        do throws(SystemError) { status = try FileStatus.of(path, followingLinks: true) } catch {
            guard error.code == ENOENT else { throw error }
        }
        guard status == nil else { return }
        let above = path.parent.isEmpty ? BytePath(".") : path.parent
        if above != path { try makeFolders(to: above) }
        let parent = try Folder(at: above)
        if try parent.makeFolder(path.lastComponent) { try parent.sync() }
    }
}
