import ChuteSystem
import Synchronization

/// The locks of an agent on its inboxes and outboxes. A folder that is not there when the agent
/// starts is locked when it appears, before anything is done in it.
final class FolderLocks: Sendable {
    private enum State {
        /// This agent's, for as long as it is this very folder.
        case held(RootOverlap.Key, FolderLock)
        case elsewhere
    }

    private let states = Mutex<[Int64: State]>([:])

    /// Locks the open folder of a root; `false` where another agent has it. Nothing happens where
    /// it is held already. Blocks.
    func take(_ root: Int64, _ folder: borrowing Folder) throws(SystemError) -> Bool {
        let status = try folder.status()
        let key = RootOverlap.Key(device: status.device, inode: status.inode)
        if case .held(key, _)? = states.withLock({ $0[root] }) { return true }
        let lock = try FolderLock(folder)
        states.withLock { $0[root] = lock.map { .held(key, $0) } ?? .elsewhere }
        return lock != nil
    }

    /// Whether this agent has the open folder, as whatever root. Blocks.
    func holds(_ folder: borrowing Folder) throws(SystemError) -> Bool {
        let status = try folder.status()
        let key = RootOverlap.Key(device: status.device, inode: status.inode)
        return states.withLock { states in
            states.values.contains { if case .held(key, _) = $0 { true } else { false } }
        }
    }

    /// Keeps a lock that was taken before the root had its number.
    func keep(
        _ lock: FolderLock, _ root: Int64, _ folder: borrowing Folder
    ) throws(SystemError) {
        let status = try folder.status()
        let key = RootOverlap.Key(device: status.device, inode: status.inode)
        states.withLock { $0[root] = .held(key, lock) }
    }

    /// Lets go of a folder that went away: it can be unmounted, and others may have it.
    func release(_ root: Int64) { states.withLock { $0[root] = nil } }

    /// Lets go of all of them.
    func releaseAll() { states.withLock { $0 = [:] } }

    /// As `release`, but still knows where another agent had the folder.
    func letGo(_ root: Int64) {
        states.withLock { states in
            if case .held? = states[root] { states[root] = nil }
        }
    }

    /// Whether another agent had the folder when it was last there.
    func isElsewhere(_ root: Int64) -> Bool {
        if case .elsewhere? = states.withLock({ $0[root] }) { true } else { false }
    }
}
