package import ChuteSystem
import Glibc

/// Which ways of renaming and copying a file system has, found out by trying them in `.chute`.
package struct RenameAbilities: Hashable, Sendable {
    /// `RENAME_NOREPLACE`. Without it a name is made by `link` and the old one unlinked.
    package let renamesExclusively: Bool
    /// `RENAME_EXCHANGE`. Without it a new version stands beside the old one.
    package let exchanges: Bool
    /// `FICLONE`: a copy that takes no space until one of the two is changed.
    package let clones: Bool

    /// Tries each in `<root>/.chute/probe` and removes what it made. Blocks.
    package static func probe(_ root: FolderRoot) throws(SystemError) -> RenameAbilities {
        try probe(in: root.privateFolder("probe"))
    }

    /// Tries each in a folder that nobody else uses and removes what it made. Blocks.
    static func probe(in folder: borrowing Folder) throws(SystemError) -> RenameAbilities {
        let (one, two, three): (BytePath, BytePath, BytePath) = ("one", "two", "three")
        for name in [one, two, three] { try folder.remove(name) }
        let first = try folder.open(one, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        let second = try folder.open(two, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        try first.write(Array(repeating: 1, count: 4096), at: 0)
        let clones = second.canClone(first)
        let renames = succeeds { () throws(SystemError) in
            try folder.renameExclusively(one, to: three, in: folder, orLinking: false)
        }
        let current = renames ? three : one
        let exchanges = succeeds { () throws(SystemError) in
            try folder.exchange(current, with: two, in: folder)
        }
        for name in [one, two, three] { try folder.remove(name) }
        return RenameAbilities(
            renamesExclusively: renames, exchanges: exchanges, clones: clones)
    }

    private static func succeeds(_ body: () throws(SystemError) -> Void) -> Bool {
        do throws(SystemError) {
            try body()
            return true
        } catch {
            return false
        }
    }
}
