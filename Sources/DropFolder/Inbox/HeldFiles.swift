import ChuteKit
import ChuteSystem
import Glibc

/// Keeps the bytes of shared files for the peers, under `<inbox>/.chute/held/`, whatever the
/// user does with the file meanwhile.
///
/// A reflink where the file system can, else a hard link of the opened descriptor, else a copy.
/// A reflink or copy is the agent's own; a link is the user's file under a second name. Blocks.
final class HeldFiles {
    struct Held: Sendable {
        let path: BytePath
        let isOwned: Bool
        /// It was held before: a row may name it.
        var isKnown = false
    }

    static let folder: BytePath = ".chute/held"
    private final class Opened {
        let folder: Folder
        init(_ folder: consuming Folder) { self.folder = folder }
    }

    private var clones: Bool?
    /// The folder, while a group of files is held in a row.
    private var opened: Opened?

    /// Lets go of the folder; the next use opens it anew.
    func release() { opened = nil }

    /// Holds the bytes of the open file; `nil` where neither link nor copy is possible, such as
    /// in a read-only inbox: then the file itself serves as long as it is there.
    func hold(
        _ file: borrowing FileDescriptor, _ path: BytePath, _ attachment: AttachmentID,
        in root: InboxRoot
    ) throws(SystemError) -> Held? {
        guard attachment.byteCount > 0 else { return nil }
        let status = try file.status()
        let name = BytePath("\(attachment.blobName)-\(status.inode)")
        if let opened { return try hold(file, status, as: name, in: opened.folder) }
        let opened: Opened
        do throws(SystemError) { opened = Opened(try open(in: root)) } catch {
            guard [EROFS, EACCES, EPERM].contains(error.code) else { throw error }
            return nil
        }
        self.opened = opened
        return try hold(file, status, as: name, in: opened.folder)
    }

    private func hold(
        _ file: borrowing FileDescriptor, _ status: FileStatus, as name: BytePath,
        in folder: borrowing Folder
    ) throws(SystemError) -> Held? {
        let held = Self.folder.appending(name)
        // The same bytes of the same file, cloned or copied before: a row may name them.
        if let known = try folder.status(of: name), known.kind == .regular,
            known.inode != status.inode, known.size == status.size
        {
            return Held(path: held, isOwned: true, isKnown: true)
        }
        if try clone(file, to: name, in: folder) { return Held(path: held, isOwned: true) }
        do throws(SystemError) {
            try folder.link(file, to: name)
            return Held(path: held, isOwned: false)
        } catch {
            if error.exists, let known = try folder.status(of: name),
                known.inode == status.inode, known.birth == status.birth
            {
                return Held(path: held, isOwned: false, isKnown: true)
            }
            // A leftover of another file with that number, or no right to link this one.
            try folder.remove(name)
        }
        let copy = try folder.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        do throws(SystemError) { try copy.copyContents(of: file) } catch {
            try folder.remove(name)
            throw error
        }
        return Held(path: held, isOwned: true)
    }

    private func clone(
        _ file: borrowing FileDescriptor, to name: BytePath, in folder: borrowing Folder
    ) throws(SystemError) -> Bool {
        guard clones ?? true else { return false }
        guard try folder.status(of: name) == nil else { return false }
        let target = try folder.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        if target.canClone(file) {
            clones = true
            return true
        }
        // One refusal can be the file's own (another mount); a second look costs little.
        if clones == nil { clones = false }
        try folder.remove(name)
        return false
    }

    /// Lets a held file go; missing is fine.
    func drop(_ path: BytePath, in root: InboxRoot) {
        do throws(SystemError) { try open(in: root).remove(path.lastComponent) } catch {
            // It stays until the next start looks for what no row names.
        }
    }

    /// All names that are held now.
    func names(in root: InboxRoot) throws(SystemError) -> [BytePath] {
        try open(in: root).entries().map { Self.folder.appending($0.name) }
    }

    private func open(in root: InboxRoot) throws(SystemError) -> Folder {
        let own = try openOrMake(InboxFilter.ownFolder, in: root.folder)
        return try openOrMake(Self.folder.lastComponent, in: own)
    }

    private func openOrMake(
        _ name: BytePath, in folder: borrowing Folder
    ) throws(SystemError) -> Folder {
        if try folder.makeFolder(name, mode: 0o700) { try folder.sync() }
        return try folder.folder(at: name)
    }
}
