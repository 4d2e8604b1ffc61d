import ChuteSystem
import Glibc

/// Keeps other agents out of an inbox or outbox, by a lock on a file beside its mark.
final class FolderLock: Sendable {
    private let file: FileDescriptor?

    /// `nil` where another agent has the folder. A folder that cannot be written needs no lock.
    /// Makes `.chute` where it is missing: a folder known by its place has none.
    init?(_ folder: borrowing Folder) throws(SystemError) {
        do throws(SystemError) { file = try Self.open(folder) } catch {
            guard error.isUnwritable else { throw error }
            file = nil
            return
        }
        guard try file?.tryLock() ?? true else { return nil }
    }

    /// Whether anybody has the folder, this agent too. Makes nothing.
    static func isHeld(_ folder: borrowing Folder) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try folder.open(".chute/lock", FileDescriptor.readWrite).isLocked()
        } catch {
            guard error.isNotFound || error.isUnwritable else { throw error }
            return false
        }
    }

    private static func open(_ folder: borrowing Folder) throws(SystemError) -> FileDescriptor {
        let (path, flags) = (BytePath(".chute/lock"), FileDescriptor.readWriteCreate)
        do throws(SystemError) { return try folder.open(path, flags, mode: 0o600) } catch {
            guard error.code == ENOENT else { throw error }
        }
        try folder.makeFolder(FolderRoot.markFolder, mode: 0o700)
        return try folder.open(path, flags, mode: 0o600)
    }
}
