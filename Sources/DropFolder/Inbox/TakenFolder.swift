package import ChuteSystem
import Glibc

/// `<inbox>/.chute/taken/`, where a file lies between its place in the inbox and its end, out of
/// everybody's sight. All calls block.
package final class TakenFolder: Sendable {
    package static let path: BytePath = ".chute/taken"

    package let inbox: InboxRoot
    package let folder: Folder

    /// Opens it, making it where `isMaking`; `nil` where there is none.
    package init?(in inbox: InboxRoot, isMaking: Bool = true) throws(SystemError) {
        self.inbox = inbox
        do throws(SystemError) {
            if isMaking {
                let own = try Self.make(InboxFilter.ownFolder, in: inbox.folder)
                folder = try Self.make(Self.path.lastComponent, in: own)
            } else {
                folder = try inbox.folder.folder(at: Self.path)
            }
        } catch {
            guard !isMaking, error.isNotFound else { throw error }
            return nil
        }
    }

    private static func make(
        _ name: BytePath, in folder: borrowing Folder
    ) throws(SystemError) -> Folder {
        if try folder.makeFolder(name, mode: 0o700) { try folder.syncNames() }
        return try folder.folder(at: name)
    }

    private static let prefixLength = 32

    /// The name of a file aside: of its document, and what is left of its own.
    package static func name(of path: BytePath, document: [UInt8]) -> BytePath {
        let prefix = Array(Hexadecimal.text(document).utf8.prefix(prefixLength)) + [0x2D]
        let room = OutboxNaming.maximumLength - prefix.count
        return BytePath(
            bytes: prefix + OutboxNaming.shortened(path.lastComponent.bytes, to: room))
    }

    /// The name in the inbox for a file aside that no row knows.
    package static func ownName(of name: BytePath) -> BytePath {
        let rest = name.bytes.dropFirst(prefixLength + 1)
        let isPlain = name.bytes.count > prefixLength + 1 && name.bytes[prefixLength] == 0x2D
        return BytePath(bytes: isPlain && rest.first != UInt8(ascii: ".") ? Array(rest) : [])
    }

    /// Renames the file aside; `false` where nothing has its name any more. `EEXIST` where
    /// something lies aside under `name`. Durable after `sync()` of both folders.
    package func setAside(_ path: BytePath, as name: BytePath) throws(SystemError) -> Bool {
        do throws(SystemError) {
            let parent = try inbox.folder.folder(at: path.parent)
            try parent.renameExclusively(path.lastComponent, to: name, in: folder)
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// Syncs this folder, then those of the inbox that files were taken from.
    package func sync(after paths: some Sequence<BytePath>) throws(SystemError) {
        try folder.syncNames()
        for parent in Set(paths.map(\.parent)) {
            do throws(SystemError) { try inbox.folder.folder(at: parent).sync() } catch {
                guard error.isNotFound else { throw error }  // it went, and with it all names
            }
        }
    }

    /// Gives a file aside its name in the inbox back, `name (2)` where that is taken, at the top
    /// of the inbox where its folder cannot be had. Synced. What it is called now.
    ///
    /// Where its own name leads to it too, only the one aside goes.
    package func putBack(_ name: BytePath, to path: BytePath) throws(SystemError) -> BytePath {
        do throws(SystemError) {
            return try putBack(name, path, making: true)
        } catch {
            guard !path.parent.isEmpty else { throw error }
            return try putBack(name, path.lastComponent, making: false)
        }
    }

    private func putBack(
        _ name: BytePath, _ path: BytePath, making: Bool
    ) throws(SystemError) -> BytePath {
        let parent = making ? try madeFolder(path.parent) : try inbox.folder.duplicate()
        let own = try folder.status(of: name).map { InodeIdentity($0) }
        var number = 1
        while true {
            let candidate = BytePath(
                bytes: OutboxNaming.candidate(path.lastComponent.bytes, number))
            number += 1
            do throws(SystemError) {
                try folder.renameExclusively(name, to: candidate, in: parent)
            } catch {
                guard error.exists else { throw error }
                guard let status = try parent.status(of: candidate), own == InodeIdentity(status)
                else { continue }
                try folder.remove(name)
            }
            try parent.syncNames()
            try folder.syncNames()
            return path.parent.appending(candidate)
        }
    }

    /// The folder at `path` of the inbox, with what is missing on the way made and synced.
    private func madeFolder(_ path: BytePath) throws(SystemError) -> Folder {
        var current = try inbox.folder.duplicate()
        for component in path.components {
            let name = BytePath(bytes: component)
            if try current.makeFolder(name) { try current.syncNames() }
            current = try current.folder(at: name)
        }
        return current
    }

    /// Removes a file aside, for good. Synced.
    package func remove(_ name: BytePath) throws(SystemError) {
        try folder.remove(name)
        try folder.syncNames()
    }
}
