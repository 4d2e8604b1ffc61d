package import ChuteSystem
import Glibc

/// A file in staging with the descriptor that it was written through: a sync through that one
/// reports every write that failed. From the group's sync on it only reads.
package final class StagedFile: Sendable {
    package let name: BytePath
    package let staging: StagingFolder
    package let descriptor: FileDescriptor
    package let identity: InodeIdentity

    init(
        name: BytePath, staging: StagingFolder, descriptor: consuming FileDescriptor
    ) throws(SystemError) {
        self.name = name
        self.staging = staging
        identity = InodeIdentity(try descriptor.status())
        self.descriptor = descriptor
    }

    /// Removes the staged name, if it still is this file; `false` otherwise.
    @discardableResult
    package func discard() throws(SystemError) -> Bool {
        guard try isStaged() else { return false }
        return try staging.folder.remove(name)
    }

    /// Whether the staged name still is this file.
    package func isStaged() throws(SystemError) -> Bool {
        try staging.folder.status(of: name).map(InodeIdentity.init) == identity
    }

    /// Makes `descriptor` a read-only one: nobody writes after the sync, and the published file
    /// does not look busy to our own probe.
    func endWriting() throws(SystemError) {
        let reader = try staging.folder.open(name, O_RDONLY | O_NONBLOCK)
        guard InodeIdentity(try reader.status()) == identity else {
            throw SystemError(code: ESTALE, call: "openat2", path: name)
        }
        try descriptor.become(reader)
    }

    /// Gives the file what it would have if it had been made in `folder`: group, access list and
    /// mode, never an execute bit; and its time.
    ///
    /// Some file systems and owners refuse some of that: the file is delivered without.
    func setLook(
        inheritingFrom folder: borrowing Folder, mode: UInt32?, modified: FileStatus.Nanoseconds?
    ) {
        try? descriptor.inheritAccess(from: folder)
        if let mode {
            try? descriptor.setMode(mode & 0o666)
        } else if let found = try? descriptor.status().mode, found & 0o111 != 0 {
            try? descriptor.setMode(found & 0o666)
        }
        if let modified { try? descriptor.setModified(modified) }
    }
}
