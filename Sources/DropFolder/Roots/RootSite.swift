package import ChuteSystem

/// Where a folder lies, whatever is in it: a folder that was removed and made anew is at the same
/// site, the place where a drive is not mounted is not.
package struct RootSite: Hashable, Sendable {
    /// `f_fsid`.
    package let fileSystem: UInt64
    /// How many mounts lie between the top and what is in the folder: a part of one file system
    /// can be mounted in another part of it.
    package let mounts: Int

    package init(fileSystem: UInt64, mounts: Int) {
        self.fileSystem = fileSystem
        self.mounts = mounts
    }

    /// What tells the file system from any other that is ever mounted in its place; `nil` where
    /// nothing does.
    package static func volume(of info: FileSystemInfo) -> UInt64? {
        FileSystemKind(type: info.type).namesVolume && info.id != 0 ? info.id : nil
    }

    /// The site of an open folder; `nil` where the system tells too little of it. Blocks.
    package static func of(_ folder: borrowing Folder) throws(SystemError) -> RootSite? {
        guard let id = volume(of: try FileSystemInfo.of(descriptor: folder.descriptor.raw))
        else { return nil }
        var current = try folder.duplicate()
        var status = try current.status()
        var mounts = 1
        while true {
            // Kernels before 5.8 do not say.
            guard status.mount != 0 else { return nil }
            let parent = try current.parent()
            let above = try parent.status()
            if above.device == status.device, above.inode == status.inode,
                above.mount == status.mount
            {
                return RootSite(fileSystem: id, mounts: mounts)
            }
            if above.mount != status.mount { mounts += 1 }
            current = parent
            status = above
        }
    }
}
