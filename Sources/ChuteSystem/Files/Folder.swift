import CLinux
import Glibc

/// An open folder: names are looked up, made, renamed and removed relative to it.
///
/// Holding the descriptor means that all of it happens in one and the same folder, whatever
/// becomes of the path. All calls may block.
package struct Folder: ~Copyable, Sendable {
    package let descriptor: FileDescriptor

    /// One name in a folder.
    package struct Entry: Hashable, Sendable {
        package let name: BytePath
        package let inode: UInt64
        /// `nil` where the file system does not say; ask `status(of:)`.
        package let kind: FileStatus.Kind?
    }

    package init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    /// Opens the folder at `path`; a link as the last name is followed.
    package init(at path: BytePath) throws(SystemError) {
        descriptor = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
    }

    /// Opens the folder at `path` below this one; follows no link and never leaves.
    package func folder(at path: BytePath) throws(SystemError) -> Folder {
        Folder(try .openBeneath(path, in: descriptor.raw, O_RDONLY | O_DIRECTORY))
    }

    /// Another descriptor of the same folder.
    package func duplicate() throws(SystemError) -> Folder {
        let raw = try retrying("fcntl") { fcntl(descriptor.raw, F_DUPFD_CLOEXEC, 0) }
        return Folder(FileDescriptor(owning: raw))
    }

    /// All names but `.` and `..`, in the order of the file system. Calls `getdents64`.
    package func entries() throws(SystemError) -> [Entry] {
        let own = try FileDescriptor.open(".", in: descriptor.raw, O_RDONLY | O_DIRECTORY)
        var found: [Entry] = []
        let size = 64 << 10
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try retrying("getdents64") {
                chute_getdents(own.raw, buffer.baseAddress, size)
            }
            if count == 0 { return found }
            var offset = 0
            while offset < count {
                // struct linux_dirent64: inode, offset, record length, type, name
                let inode = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 16, as: UInt16.self))
                let type = buffer[offset + 18]
                let name = buffer[(offset + 19)..<(offset + length)].prefix { $0 != 0 }
                offset += length
                if name.elementsEqual([0x2E]) || name.elementsEqual([0x2E, 0x2E]) { continue }
                found.append(Entry(name: BytePath(bytes: name), inode: inode, kind: kind(of: type)))
            }
        }
    }

    private func kind(of type: UInt8) -> FileStatus.Kind? {
        switch Int(type) {
        case Int(DT_REG): .regular
        case Int(DT_DIR): .directory
        case Int(DT_LNK): .symlink
        case Int(DT_UNKNOWN): nil
        default: .other
        }
    }

    /// The status of a name, not following a link; `nil` where there is none.
    package func status(of path: BytePath) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try FileStatus.of(path, in: descriptor.raw)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    /// Opens a file below this folder; follows no link and never leaves.
    package func open(
        _ path: BytePath, _ flags: Int32, mode: UInt32 = 0o666
    ) throws(SystemError) -> FileDescriptor {
        try .openBeneath(path, in: descriptor.raw, flags | O_NOFOLLOW, mode: mode)
    }

    /// Makes a folder; `false` where something of that name exists already. Calls `mkdirat`.
    @discardableResult
    package func makeFolder(_ name: BytePath, mode: UInt32 = 0o777) throws(SystemError) -> Bool {
        let result = name.withCString { mkdirat(descriptor.raw, $0, mode) }
        if result == 0 { return true }
        if errno == EEXIST { return false }
        throw .current("mkdirat", name)
    }

    /// Gives a file another name, replacing what has it. Calls `renameat`.
    package func rename(_ name: BytePath, to target: BytePath) throws(SystemError) {
        try renameWith(0, name, to: target, in: descriptor.raw)
    }

    /// Gives a file a name that nothing has yet: `EEXIST` and nothing changed otherwise.
    ///
    /// Calls `renameat2(RENAME_NOREPLACE)`, or `linkat` and `unlinkat` where the file system
    /// refuses that with `EINVAL`. Durable only after `sync()` of both folders.
    package func renameExclusively(
        _ name: BytePath, to target: BytePath, in folder: borrowing Folder
    ) throws(SystemError) {
        do throws(SystemError) {
            try renameWith(chute_RENAME_NOREPLACE, name, to: target, in: folder.descriptor.raw)
        } catch {
            guard error.code == EINVAL || error.code == ENOSYS else { throw error }
            try link(name, to: target, in: folder)
            try remove(name)
        }
    }

    /// Swaps two names at one moment. `EINVAL` where the file system cannot.
    ///
    /// Calls `renameat2(RENAME_EXCHANGE)`. Durable only after `sync()` of both folders.
    package func exchange(
        _ name: BytePath, with target: BytePath, in folder: borrowing Folder
    ) throws(SystemError) {
        try renameWith(chute_RENAME_EXCHANGE, name, to: target, in: folder.descriptor.raw)
    }

    private func renameWith(
        _ flags: UInt32, _ name: BytePath, to target: BytePath, in folder: Int32
    ) throws(SystemError) {
        let result = name.withCString { from in
            target.withCString { to in
                chute_renameat2(descriptor.raw, from, folder, to, flags)
            }
        }
        guard result == 0 else { throw .current("renameat2", target) }
    }

    /// Makes a second name for a file. `EEXIST` where `target` exists. Calls `linkat`.
    package func link(
        _ name: BytePath, to target: BytePath, in folder: borrowing Folder
    ) throws(SystemError) {
        let other = folder.descriptor.raw
        let result = name.withCString { from in
            target.withCString { to in linkat(descriptor.raw, from, other, to, 0) }
        }
        guard result == 0 else { throw .current("linkat", target) }
    }

    /// Makes a name here for the open file. Calls `linkat` on `/proc/self/fd`.
    package func link(_ file: borrowing FileDescriptor, to name: BytePath) throws(SystemError) {
        let raw = file.raw
        let result = name.withCString { chute_link_descriptor(raw, descriptor.raw, $0) }
        guard result == 0 else { throw .current("linkat", name) }
    }

    /// Removes a file's name; `false` where there is none. Calls `unlinkat`.
    @discardableResult
    package func remove(_ name: BytePath) throws(SystemError) -> Bool {
        try unlink(name, 0)
    }

    /// Removes an empty folder; `false` where there is none. Calls `unlinkat(AT_REMOVEDIR)`.
    @discardableResult
    package func removeFolder(_ name: BytePath) throws(SystemError) -> Bool {
        try unlink(name, AT_REMOVEDIR)
    }

    private func unlink(_ name: BytePath, _ flags: Int32) throws(SystemError) -> Bool {
        let result = name.withCString { unlinkat(descriptor.raw, $0, flags) }
        if result == 0 { return true }
        if errno == ENOENT { return false }
        throw .current("unlinkat", name)
    }

    /// Removes a folder and all in it; follows no link. Missing is fine.
    package func removeTree(_ name: BytePath) throws(SystemError) {
        guard let status = try status(of: name) else { return }
        guard status.kind == .directory else {
            try remove(name)
            return
        }
        let inner = try folder(at: name)
        for entry in try inner.entries() { try inner.removeTree(entry.name) }
        try removeFolder(name)
    }

    /// Makes names made, changed and removed here survive a power cut. Calls `fsync`.
    package func sync() throws(SystemError) { try descriptor.sync() }
}
