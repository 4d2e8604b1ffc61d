import ChuteSystem
import Glibc

/// A staged file and the copy before it after the two were exchanged: keeps what came out, or
/// puts it back where it is not what we delivered.
struct Exchange {
    enum Result {
        /// The old copy is in `.chute/replaced`; `nil` where it vanished from staging.
        case kept(DeliveredCopy?)
        /// The user's file has its name again, and ours is staged again.
        case putBack
        /// The user's files have names, and ours was taken away meanwhile.
        case lost
    }

    let publisher: OutboxPublisher
    let staging: StagingFolder
    let stagedName: BytePath
    /// Of the new file.
    let identity: InodeIdentity
    let branch: OutboxTree.Branch
    let target: BytePath
    let now: FileStatus.Nanoseconds

    /// Looks at what came out and decides.
    func settle(delivered: CopyFingerprint) throws(SystemError) -> Result {
        guard let came = try staging.folder.status(of: stagedName) else { return .kept(nil) }
        let isAsDelivered = CopyFingerprint(came).isSameButChanged(delivered)
        guard isAsDelivered, try !isBeingWritten() else { return try putBack() }
        do throws(SystemError) { return .kept(try keepReplaced()) } catch {
            // No room for it: all is as before, and the new version stays staged.
            _ = try putBack()
            throw error
        }
    }

    // The new name counts too: who opened the old copy before the exchange still writes to it.
    private func isBeingWritten() throws(SystemError) -> Bool {
        let file: FileDescriptor
        do throws(SystemError) {
            file = try staging.folder.open(stagedName, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.code == EACCES || error.code == EPERM else { throw error }
            return false
        }
        return file.hasWriter() == true
    }

    /// Moves what came out to `.chute/replaced/<date>-<name>`.
    func keepReplaced() throws(SystemError) -> DeliveredCopy? {
        let replaced = try publisher.root.privateFolder("replaced")
        let dated = Array("\(CalendarDate(now).text)-".utf8) + target.bytes
        let wanted = OutboxNaming.shortened(dated, to: OutboxNaming.maximumLength)
        let name = try moveStaged(wanted, to: replaced)
        try replaced.sync()
        guard let status = try replaced.status(of: name) else { return nil }
        let path = FolderRoot.markFolder.appending("replaced").appending(name)
        return DeliveredCopy(path: path, fingerprint: CopyFingerprint(status))
    }

    /// Gives the user's file its name back.
    func putBack() throws(SystemError) -> Result {
        do throws(SystemError) {
            try staging.folder.exchange(stagedName, with: target, in: branch.folder)
        } catch {
            // The user took ours away: the name is free again, or the folder is gone.
            guard error.code == ENOENT else { throw error }
            try giveNameBack()
            return .lost
        }
        guard let staged = try staging.folder.status(of: stagedName) else { return .lost }
        if InodeIdentity(staged) == identity { return .putBack }
        // The user replaced ours in that moment, and what came out now is the newest of the
        // user's files. It stands beside: nothing of the user's is lost.
        try giveNameBack()
        return .lost
    }

    /// Names what lies at the staged path as it was, or beside it.
    func giveNameBack() throws(SystemError) {
        try moveStaged(target.bytes, to: branch.folder)
        try branch.folder.sync()
    }

    @discardableResult
    private func moveStaged(
        _ wanted: [UInt8], to folder: borrowing Folder
    ) throws(SystemError) -> BytePath {
        var number = 1
        while true {
            let name = BytePath(bytes: OutboxNaming.candidate(wanted, number))
            number += 1
            do throws(SystemError) {
                try staging.folder.renameExclusively(stagedName, to: name, in: folder)
                return name
            } catch {
                guard error.exists else { throw error }
            }
        }
    }
}
