import ChuteSystem
import Glibc

/// Keeps other agents out of an inbox or outbox, by a lock on a file beside its mark.
final class FolderLock: Sendable {
    private let file: FileDescriptor?

    /// `nil` where another agent has the folder. A read-only folder needs no lock.
    init?(_ folder: borrowing Folder) throws(SystemError) {
        do throws(SystemError) {
            file = try folder.open(
                ".chute/lock", FileDescriptor.readWriteCreate, mode: 0o600)
        } catch {
            guard [EROFS, EACCES, EPERM].contains(error.code) else { throw error }
            file = nil
            return
        }
        guard try file?.tryLock() ?? true else { return nil }
    }
}
