import ChuteSystem
import Glibc
import Synchronization

/// The right to be the one engine of a directory, for as long as it exists.
///
/// An open-file-description lock on `chute.lock`, which goes with the process, however that
/// ends, and is never inherited. The file is never removed. It is empty until whoever took the
/// lock writes into it what for.
public final class DirectoryLock: Sendable {
    /// The directory.
    public let directory: BytePath
    private let file: Mutex<FileDescriptor?>

    static let name: BytePath = "chute.lock"

    /// Takes the lock; makes the directory (0700) where it does not exist.
    ///
    /// Throws `heldElsewhere` where another engine has it, `networkFileSystem`, `notADirectory` or
    /// `notWritable` where nobody can keep an engine there, `file` for what else fails.
    public init(_ directory: BytePath) throws {
        self.directory = directory
        let opened: FileDescriptor?
        do throws(SystemError) {
            try Folder.make(directory, mode: 0o700)
            let folder = try Folder(at: directory)
            if try FileSystemReach.of(folder.descriptor) == .local {
                opened = try folder.open(Self.name, FileDescriptor.readWriteCreate, mode: 0o600)
            } else {
                opened = nil
            }
        } catch {
            throw ChuteError(
                Self.code(of: error),
                "the state folder \(directory) cannot be used; it must be writable and on a "
                    + "local disk", cause: error)
        }
        guard let file = opened else {
            throw ChuteError(
                .networkFileSystem,
                "the state folder \(directory) lies on a network file system: it must be on a "
                    + "local disk")
        }
        guard try file.tryLock() else {
            throw ChuteError(
                .heldElsewhere,
                "another engine uses \(directory): close that one first, be it of another program or of this one",
                isTransient: true)
        }
        // What its last holder said of itself is over.
        try file.truncate(to: 0)
        self.file = Mutex(file)
    }

    private static func code(of error: SystemError) -> ChuteError.Code {
        if error.isUnwritable { return .notWritable }
        return error.code == ENOTDIR || error.exists ? .notADirectory : .file
    }

    deinit {
        // A child that has not run its own program yet has the file too. Where it fails, the lock
        // goes with that child.
        try? release()
    }

    /// Gives the directory to whoever takes the lock next. The directory is not used through this
    /// any more; doing it twice is doing it once.
    func release() throws {
        try file.withLock { file throws(SystemError) in
            try file?.unlock()
            file = nil
        }
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
