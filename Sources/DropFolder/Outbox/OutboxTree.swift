import ChuteSystem
import Glibc

/// Finds and makes the folders of an outbox, never through a link and never out of it.
struct OutboxTree {
    /// An open folder of the outbox, with the ones above it.
    final class Branch: Sendable {
        /// A folder by number; the device is the root's.
        struct Key: Hashable, Sendable {
            let device: UInt64
            let identity: InodeIdentity
        }

        let folder: Folder
        let path: BytePath
        let above: Branch?
        let key: Key
        let mount: UInt64

        init(_ folder: consuming Folder, path: BytePath, above: Branch?) throws(SystemError) {
            let status = try folder.status()
            key = Key(device: status.device, identity: InodeIdentity(status))
            mount = status.mount
            self.folder = folder
            self.path = path
            self.above = above
        }
    }

    /// What a list of components leads to.
    struct Place {
        /// The path of the folder, which differs from the one asked for where a name on the way
        /// was taken by something that is no folder of this file system.
        let path: BytePath
        /// The deepest folder that exists: the folder itself where `isComplete`.
        let branch: Branch
        let isComplete: Bool
    }

    let root: FolderRoot
    /// `nil`: 0777 less the umask.
    let folderMode: UInt32?

    /// Whether these can be names below an outbox: whatever a caller forgot to check, nothing goes
    /// up, sideways or into `.chute`.
    static func areNames(_ components: [[UInt8]]) -> Bool {
        guard let first = components.first, first != FolderRoot.markFolder.bytes else {
            return false
        }
        return components.allSatisfy { name in
            !name.isEmpty && name != [0x2E] && name != [0x2E, 0x2E] && !name.contains(0)
                && !name.contains(BytePath.separator)
        }
    }

    /// Walks down `components`. A name that a file, a link or another mount has is passed over
    /// for `name (2)`. With `making`, missing folders are made.
    func place(_ components: some Sequence<[UInt8]>, making: Bool) throws(SystemError) -> Place {
        var branch = try Branch(root.folder.duplicate(), path: BytePath(bytes: []), above: nil)
        var missing: BytePath?
        for component in components {
            if let path = missing {
                missing = path.appending(BytePath(bytes: component))
                continue
            }
            let (name, next) = try step(from: branch, component, making: making)
            if let next { branch = next } else { missing = branch.path.appending(name) }
        }
        return Place(path: missing ?? branch.path, branch: branch, isComplete: missing == nil)
    }

    /// The folder at exactly `path`; `nil` where there is none.
    func branch(at path: BytePath) throws(SystemError) -> Branch? {
        let place = try place(path.components, making: false)
        return place.isComplete && place.path == path ? place.branch : nil
    }

    private func step(
        from branch: Branch, _ component: [UInt8], making: Bool
    ) throws(SystemError) -> (BytePath, Branch?) {
        var number = 1
        while true {
            let bytes = OutboxNaming.candidate(component, number, isFolder: true)
            let name = BytePath(bytes: bytes)
            number += 1
            let found = try branch.folder.status(of: name)
            if found == nil, !making { return (name, nil) }
            if let found, found.kind != .directory { continue }
            do throws(SystemError) {
                let opened = try branch.folder.folder(making: name, mode: folderMode)
                let next = try Branch(
                    opened, path: branch.path.appending(name), above: branch)
                // Nothing can be renamed into another mount.
                if next.key.device == branch.key.device, next.mount == branch.mount {
                    return (name, next)
                }
            } catch {
                // A link or a file took the name since.
                guard error.code == ELOOP || error.code == ENOTDIR else { throw error }
            }
        }
    }
}
