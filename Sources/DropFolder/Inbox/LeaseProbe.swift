package import ChuteSystem
import Glibc

/// Looks at a file of an inbox before it is read: is it regular, does somebody write it, is it
/// whole by its structure?
///
/// The lease is given back in the call after the one that takes it, so that a writer who meets
/// it waits for microseconds. Blocks.
package struct LeaseProbe: Sendable {
    package enum Answer: Hashable, Sendable {
        case file(SettleTracker.Probe, FileStatus)
        /// Something that is not shared.
        case skipped(SkipReason)
        /// Nothing of this name.
        case missing
    }

    /// Judges an open file of so many bytes.
    package typealias Structure = @Sendable (borrowing FileDescriptor, UInt64) -> StructureVerdict

    private let structure: Structure

    package init(structure: @escaping Structure) { self.structure = structure }

    /// Opens `path`, following no link and waiting for nobody. The fingerprint is the one before
    /// the structure was looked at: a later change shows.
    package func look(at path: BytePath, in root: InboxRoot) -> Answer {
        do throws(SystemError) {
            let file = try root.folder.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            let status = try file.status()
            switch status.kind {
            case .regular: break
            case .symlink: return .skipped(.symlink)
            case .directory, .other: return .skipped(.notRegular)
            }
            let lease = try state(of: file)
            let verdict = lease == .busy ? .unknown : self.verdict(file, status.size)
            let probe = SettleTracker.Probe(
                lease: lease, structure: verdict, fingerprint: FileFingerprint(status))
            return .file(probe, status)
        } catch {
            return answer(for: error)
        }
    }

    private func verdict(_ file: borrowing FileDescriptor, _ size: UInt64) -> StructureVerdict {
        size == 0 ? .empty : structure(file, size)
    }

    /// Whether somebody writes the open file; `unknown` on a remote file system, where a lease
    /// proves nothing.
    package func state(of file: borrowing FileDescriptor) throws(SystemError) -> LeaseState {
        guard try FileSystemReach.of(file) == .local else { return .unknown }
        return LeaseState.probe(raw: file.raw)
    }

    private func answer(for error: SystemError) -> Answer {
        switch error.code {
        case ENOENT, ENOTDIR: .missing
        case ELOOP: .skipped(.symlink)
        case ENXIO, ENODEV: .skipped(.notRegular)  // a socket, a device without a driver
        case ENAMETOOLONG: .skipped(.nameRefused)
        default: .skipped(.unreadable)
        }
    }
}
