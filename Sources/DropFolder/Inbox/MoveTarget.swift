package import ChuteSystem
import Glibc

/// A file's copy in an `after_ingest_folder` on another file system.
package struct MovedCopy: Hashable, Sendable {
    /// Below the folder.
    package var path: BytePath
    package var identity: InodeIdentity

    package init(path: BytePath, identity: InodeIdentity) {
        self.path = path
        self.identity = identity
    }
}

/// An open `after_ingest_folder`: where dropped files go once others have them.
///
/// Each keeps its path below the inbox. Nothing there is ever replaced: a name that is taken gives
/// ` (2)`. All calls block.
package final class MoveTarget: Sendable {
    /// A folder for files, and its path below the root.
    private struct Place: ~Copyable {
        let path: BytePath
        let folder: Folder
    }

    package let root: FolderRoot
    private static let copies: BytePath = "moving"

    package init(_ root: FolderRoot) { self.root = root }

    /// Moves the file `name` of `folder` here by a rename, and syncs. What it is called now.
    ///
    /// `EXDEV` where this is another file system, and nothing happened.
    package func move(
        _ name: BytePath, in folder: borrowing Folder, to path: BytePath
    ) throws(SystemError) -> BytePath {
        let place = try place(path.parent)
        var number = 1
        while true {
            let candidate = Self.candidate(path, number)
            number += 1
            do throws(SystemError) {
                try folder.renameExclusively(name, to: candidate, in: place.folder)
                try place.folder.syncNames()
                try folder.syncNames()
                return place.path.appending(candidate)
            } catch {
                guard error.exists else { throw error }
            }
        }
    }

    /// Copies an open file to a hidden name here and syncs it, with its time, permissions and, as
    /// far as that is possible, owner and attributes. It stays hidden until `publish`. A copy of
    /// that name from before is removed.
    ///
    /// `ECANCELED` once the task is cancelled.
    package func stage(
        _ file: borrowing FileDescriptor, as name: BytePath
    ) throws(SystemError) -> FileDescriptor {
        let copies = try root.privateFolder(Self.copies)
        try copies.remove(name)
        let status = try file.status()
        let copy = try copies.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        do throws(SystemError) {
            try Self.copy(file, to: copy)
            // What this file system cannot keep is as with any program that moves files.
            _ = copy.copyAttributes(of: file)
            // Where modes cannot be set (VFAT), the mount decides.
            do throws(SystemError) { try copy.setMode(status.mode & 0o777) } catch {
                guard error.code == EPERM || error.code == EOPNOTSUPP else { throw error }
            }
            try copy.setModified(status.modified)
            try copy.sync()
            try copies.syncNames()
        } catch {
            try copies.remove(name)
            throw error
        }
        return copy
    }

    private static let pieceByteCount = 1 << 20

    /// Shares the bytes where the file system can; otherwise they are on their way to the disk as
    /// they come, so that the sync at the end is short.
    private static func copy(
        _ file: borrowing FileDescriptor, to copy: borrowing FileDescriptor
    ) throws(SystemError) {
        if copy.canClone(file) { return }
        var offset: UInt64 = 0
        while true {
            let piece = try file.read(count: pieceByteCount, at: offset)
            if piece.isEmpty { return }
            if Task.isCancelled { throw SystemError(code: ECANCELED, call: "copy") }
            try copy.write(piece, at: offset)
            copy.startWriteback(from: offset, count: UInt64(piece.count))
            offset += UInt64(piece.count)
        }
    }

    /// The first name for the file at `path` that nothing has here, beginning with the `number`th.
    package func freeName(
        for path: BytePath, from number: inout Int
    ) throws(SystemError) -> BytePath {
        let place = try place(path.parent)
        while true {
            let candidate = Self.candidate(path, number)
            number += 1
            if try place.folder.status(of: candidate) == nil {
                return place.path.appending(candidate)
            }
        }
    }

    /// Gives a staged copy its name; `false` where that was taken meanwhile. Not synced.
    package func publish(_ name: BytePath, to path: BytePath) throws(SystemError) -> Bool {
        let copies = try root.privateFolder(Self.copies)
        let parent = try root.folder.folder(at: path.parent)
        do throws(SystemError) {
            try copies.renameExclusively(name, to: path.lastComponent, in: parent)
        } catch {
            guard error.exists else { throw error }
            return false
        }
        return true
    }

    /// Makes the name that a copy got survive a power cut: before that its original stays.
    package func makeDurable(_ copy: MovedCopy) throws(SystemError) {
        try root.folder.folder(at: copy.path.parent).syncNames()
        try root.privateFolder(Self.copies).syncNames()
    }

    /// Removes a copy that got its name, if it still is that very one.
    package func takeBack(_ copy: MovedCopy) throws(SystemError) {
        guard try has(copy) else { return }
        try root.folder.folder(at: copy.path.parent).remove(copy.path.lastComponent)
    }

    /// Whether this very copy has its name.
    package func has(_ copy: MovedCopy) throws(SystemError) -> Bool {
        try root.folder.status(of: copy.path).map { InodeIdentity($0) } == copy.identity
    }

    /// Removes a staged copy that is not needed; missing is fine.
    package func discard(_ name: BytePath) throws(SystemError) {
        try root.privateFolder(Self.copies).remove(name)
    }

    private static func candidate(_ path: BytePath, _ number: Int) -> BytePath {
        BytePath(bytes: OutboxNaming.candidate(path.lastComponent.bytes, number))
    }

    /// The folder for files of `path`, with what is missing on the way made and synced. A name that
    /// something else has, or a link, is passed over for `name (2)`.
    private func place(_ path: BytePath) throws(SystemError) -> Place {
        var current = try root.folder.duplicate()
        var made: BytePath = ""
        for component in path.components {
            var number = 1
            while true {
                let name = BytePath(
                    bytes: OutboxNaming.candidate(component, number, isFolder: true))
                number += 1
                if try current.makeFolder(name) { try current.syncNames() }
                do throws(SystemError) { current = try current.folder(at: name) } catch {
                    guard error.code == ENOTDIR || error.code == ELOOP else { throw error }
                    continue
                }
                made = made.appending(name)
                break
            }
        }
        return Place(path: made, folder: current)
    }
}

extension MoveTarget {
    /// What stands in the place of a folder that is not the one that it was.
    package enum Successor: Hashable, Sendable {
        /// It was made anew by its user: there is nothing in it, and it is where the other was.
        case empty
        case missing
        /// It is where the other was, and something is in it.
        case filled
        /// It may be the place where a drive is not mounted, or another drive.
        case elsewhere

        var words: String {
            switch self {
            case .empty: "is empty"
            case .missing:
                "is not there: mount its drive, or make it where it is gone for good"
            case .filled:
                "is not the folder that it was: bring that one back, empty this one for a moment, "
                    + "or name another after_ingest_folder"
            case .elsewhere:
                "is not the folder that it was, nor on its drive: mount that drive, or name "
                    + "another after_ingest_folder where it is gone for good"
            }
        }
    }

    /// Looks at what is at `path` now, where the folder that was there lay at `site`. Changes
    /// nothing.
    package static func successor(
        at path: BytePath, of site: RootSite?
    ) throws(SystemError) -> Successor {
        let folder: Folder
        do throws(SystemError) { folder = try Folder(at: path) } catch {
            if error.isNotFound { return .missing }
            throw error
        }
        guard let site, try RootSite.of(folder) == site else { return .elsewhere }
        return try folder.entries().isEmpty ? .empty : .filled
    }
}
