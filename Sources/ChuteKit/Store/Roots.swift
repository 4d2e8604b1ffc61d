import ChuteSystem
import Glibc
import Synchronization

/// The folders in which blobs lie, as they are mounted right now.
///
/// Nothing is kept open here, so that a user can unmount a drive at any time. Each opening
/// checks the folder's mark through the descriptor that is then used.
final class Roots: Sendable {
    private struct Root {
        let path: BytePath
        /// What the mark begins with.
        let mark: [UInt8]
        let isKept: Bool
    }

    private let roots = Mutex<[Int64: Root]>([:])

    /// Where a root keeps its mark.
    static let markPath: BytePath = ".chute/id"
    private static let markLimit = 4096

    func attach(_ id: Int64, path: BytePath, mark: [UInt8], isKept: Bool) {
        roots.withLock { $0[id] = Root(path: path, mark: mark, isKept: isKept) }
    }

    /// Whether nobody but the user takes files out of it.
    func isKept(_ id: Int64) -> Bool { roots.withLock { $0[id]?.isKept ?? false } }

    func detach(_ id: Int64) { _ = roots.withLock { $0.removeValue(forKey: id) } }

    /// Opens a root; `nil` where it is not attached or not mounted. Blocks.
    func open(_ id: Int64) -> Folder? {
        guard let root = roots.withLock({ $0[id] }) else { return nil }
        do throws(SystemError) {
            let folder = try Folder(at: root.path)
            if root.mark.isEmpty { return folder }  // cannot bear a mark: the caller checked it
            let file = try folder.open(Self.markPath, O_RDONLY | O_NONBLOCK)
            guard try file.read(count: Self.markLimit, at: 0).starts(with: root.mark) else {
                return nil
            }
            return folder
        } catch {
            return nil
        }
    }
}
