import ChuteSystem

/// The right to be the one engine of a directory, for as long as it exists.
///
/// An open-file-description lock on `chute.lock`, which goes with the process, however that
/// ends, and is never inherited. The file is never removed. It is empty until whoever took the
/// lock writes into it what for.
public final class DirectoryLock: Sendable {
    /// The directory.
    public let directory: BytePath
    private let file: FileDescriptor

    static let name: BytePath = "chute.lock"

    /// Takes the lock; makes the directory (0700) where it does not exist.
    ///
    /// Throws `heldElsewhere` where another engine has it, `file` where the directory cannot be
    /// used or lies on a network file system.
    public init(_ directory: BytePath) throws {
        self.directory = directory
        do throws(SystemError) {
            try Folder.make(directory, mode: 0o700)
            let folder = try Folder(at: directory)
            guard try FileSystemReach.of(folder.descriptor) == .local else {
                throw SystemError(code: 95, call: "statfs", path: directory)  // EOPNOTSUPP
            }
            file = try folder.open(Self.name, FileDescriptor.readWriteCreate, mode: 0o600)
        } catch {
            throw ChuteError(
                .file,
                "the state folder \(directory) cannot be used; it must be writable and on a "
                    + "local disk", cause: error)
        }
        guard try file.tryLock() else {
            throw ChuteError(
                .heldElsewhere, "another agent uses \(directory): stop that one first",
                isTransient: true)
        }
        // What its last holder said of itself is over.
        try file.truncate(to: 0)
    }

    /// Whether an engine has the lock of a directory right now. Takes nothing.
    public static func isHeld(in directory: BytePath) -> Bool {
        do throws(SystemError) {
            let folder = try Folder(at: directory)
            return try folder.open(name, FileDescriptor.readWrite).isLocked()
        } catch {
            return false
        }
    }
}
