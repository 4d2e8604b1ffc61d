package import ChuteSystem

/// The open folder of an inbox. All names below it are looked up through its descriptor,
/// whatever is mounted over its path later.
package final class InboxRoot: Sendable {
    package let folder: Folder
    package let status: FileStatus
    package let kind: FileSystemReach

    package init(_ folder: consuming Folder) throws(SystemError) {
        status = try folder.descriptor.status()
        kind = try FileSystemReach.of(folder.descriptor)
        self.folder = folder
    }

    package convenience init(at path: BytePath) throws(SystemError) {
        try self.init(Folder(at: path))
    }

    /// Whether the path leads to this very folder still.
    package func isStill(at path: BytePath) -> Bool {
        guard let now = try? FileStatus.of(path, followingLinks: true) else { return false }
        return now.device == status.device && now.inode == status.inode
    }
}
