import ChuteKit
import ChuteSystem

extension InboxWatcher {
    /// Looks after the inbox of a row, which is locked for as long as it is there.
    init(
        of inbox: FolderRecord, filter: InboxFilter, settings: Settings = Settings(),
        locks: FolderLocks
    ) {
        let root = inbox.root
        self.init(path: inbox.path, filter: filter, settings: settings) {
            Self.isRoot($0, inbox, locks)
        } letGo: {
            locks.letGo(root)
        }
    }

    /// Whether an open folder is the inbox that is meant, and this agent's alone.
    private static func isRoot(
        _ folder: borrowing Folder, _ inbox: FolderRecord, _ locks: FolderLocks
    ) -> Bool {
        do throws(SystemError) {
            switch inbox.identity {
            case .marked(let id):
                guard try FolderRoot.mark(in: folder)?.id == id else { return false }
            case .place(_, let inode, let birth):
                let status = try folder.status()
                guard status.inode == inode, status.birth == birth else { return false }
            }
            return try locks.take(inbox.root, folder)
        } catch {
            return false
        }
    }
}
