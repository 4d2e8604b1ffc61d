import CLinux
import Glibc

/// Whether somebody may be writing a file.
package enum LeaseState: Hashable, Sendable {
    /// A writer, or a writable mapping, has it.
    case busy
    /// Nobody can write at this moment.
    case free
    /// Nothing can be said: another owner's file, or a file system where a lease proves nothing.
    case unknown

    /// Takes a read lease on `file` and gives it back at once.
    ///
    /// Whoever opens the file for writing in between waits for microseconds, and the kernel sends
    /// this process SIGIO: it must be ignored, see `ignoreSignals()`. Not for remote file
    /// systems, see `FileSystemReach`. Calls `fcntl(F_SETLEASE)`.
    package static func probe(_ file: borrowing FileDescriptor) -> LeaseState {
        probe(raw: file.raw)
    }

    /// The same for a number; whoever owns it keeps it open meanwhile.
    package static func probe(raw descriptor: Int32) -> LeaseState {
        guard chute_read_lease(descriptor, 1) == 0 else {
            return errno == EAGAIN ? .busy : .unknown
        }
        // Closing gives it back too, should this fail.
        _ = chute_read_lease(descriptor, 0)
        return .free
    }
}
