package import ChuteSystem
import Glibc

/// Calls `body` with a mounted tmpfs; needs root.
package func withTmpfs(
    _ options: String, _ body: (BytePath) async throws -> Void
) async throws {
    try await withTemporaryDirectory { top in
        let point = top.appending("mount")
        try Folder(at: top).makeFolder("mount")
        try mountTmpfs(point, options)
        do { try await body(point) } catch {
            try unmount(point)
            throw error
        }
        try unmount(point)
    }
}

// By system calls, not by the programs of these names: a child of this process has all of its
// open files until it runs its own program, and a file that another test has just written would
// still have a writer.
package func mountTmpfs(_ point: BytePath, _ options: String, flags: Int = 0) throws(SystemError) {
    guard point.withCString({ mount("tmpfs", $0, "tmpfs", UInt(flags), options) }) == 0 else {
        throw .current("mount", point)
    }
}

/// Calls `umount2`, lazily.
package func unmount(_ point: BytePath) throws(SystemError) {
    guard point.withCString({ umount2($0, Int32(MNT_DETACH)) }) == 0 else {
        throw .current("umount2", point)
    }
}

/// Mounts it anew, read-only.
package func makeReadOnly(_ point: BytePath) throws(SystemError) {
    try mountTmpfs(point, "", flags: Int(MS_REMOUNT | MS_RDONLY))
}

/// Mounts it anew, writable.
package func makeWritable(_ point: BytePath) throws(SystemError) {
    try mountTmpfs(point, "", flags: Int(MS_REMOUNT))
}

/// Whether this process may mount: as root, outside of a container.
package let canMount: Bool = {
    guard geteuid() == 0, let top = try? Folder(at: "/tmp") else { return false }
    let name = BytePath("chute-test-mount-\(getpid())")
    let point = BytePath("/tmp").appending(name)
    guard (try? top.makeFolder(name)) == true else { return false }
    defer { _ = try? top.removeFolder(name) }
    do throws(SystemError) {
        try mountTmpfs(point, "size=4k")
        try unmount(point)
        return true
    } catch { return false }
}()
