import ChuteSystem
import Glibc

/// Roots that stay open while many of their files are opened in a row.
///
/// Whoever owns it calls `close` when the row ends: an open folder keeps its drive from being
/// unmounted. Not `Sendable`: belongs to one reader or writer. Blocks.
final class OpenRoots {
    private final class Root {
        let folder: Folder
        init(_ folder: consuming Folder) { self.folder = folder }
    }

    private let roots: Roots
    private var open: [Int64: Root] = [:]

    init(_ roots: Roots) { self.roots = roots }

    /// Opens a file below a root, following no link. `nil` where the root is not attached or not
    /// mounted.
    func open(
        _ path: BytePath, in root: Int64, _ flags: Int32, mode: UInt32 = 0
    ) throws(SystemError) -> FileDescriptor? {
        if let known = open[root] { return try known.folder.open(path, flags, mode: mode) }
        guard let folder = roots.open(root) else { return nil }
        let found = Root(folder)
        open[root] = found
        return try found.folder.open(path, flags, mode: mode)
    }

    /// Lets all of them go; the next use opens and checks them anew.
    func close() { open.removeAll() }
}
