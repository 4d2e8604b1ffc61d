import ChuteKit
import ChuteSystem
import Glibc

/// Whether the inbox is there.
extension InboxWatcher {
    /// Looks after the inbox of a row, which is locked for as long as it is there.
    init(
        of inbox: FolderRecord, filter: InboxFilter, settings: Settings = Settings(),
        locks: FolderLocks, log: Log
    ) {
        let root = inbox.root
        self.init(path: inbox.path, filter: filter, settings: settings) {
            Self.isRoot($0, inbox, locks, log)
        } letGo: {
            locks.letGo(root)
        }
    }

    /// Whether an open folder is the inbox that is meant, and this agent's alone.
    private static func isRoot(
        _ folder: borrowing Folder, _ inbox: FolderRecord, _ locks: FolderLocks, _ log: Log
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
            log.debug("whether \(inbox.path) is the inbox cannot be told: \(error)")
            return false
        }
    }

    func checkRoot(_ now: ContinuousClock.Instant) {
        guard now >= nextCheck else { return }
        nextCheck = now + settings.checkPause
        if let root {
            if root.isStill(at: path), isOurs(root.folder) { return }
            disarm()
        }
        do throws(SystemError) {
            let found = try InboxRoot(at: path)
            guard isOurs(found.folder) else {
                letGo()
                return enter(.waiting(.notMounted))
            }
            currentRoot.withLock { $0 = found }
            isAfterAbsence = true
            wantsScan = true
        } catch {
            letGo()
            enter(.waiting(error.code == EACCES ? .unreadable : .notMounted))
        }
    }

    /// Lets go of everything that belongs to the present root.
    func disarm() {
        if let scan {
            let incomplete = InboxSighting.Coverage(isComplete: false)
            output.appendAlways(.scanEnded(generation: scan.generation, incomplete))
        }
        scan = nil
        folderScans = []
        watches = WatchTable()
        inotify?.stop()
        inotify = nil
        currentRoot.withLock { $0 = nil }
    }

    func enter(_ new: InboxState) {
        guard state != new else { return }
        state = new
        output.appendAlways(.state(new))
    }
}
