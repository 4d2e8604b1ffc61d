package import ChuteSystem

extension OutboxPublisher {
    /// What recovery made of an intent.
    package enum Recovered: Sendable {
        /// Publish this file: as `.synced`, beside an old copy, not in its place.
        case publishAgain(StagedFile)
        /// It has its name, durably: commit delivered.
        case published(PublishedCopy)
        /// It had its name, and the user took it away: commit delivered, and that it is gone.
        case movedByUser
        /// Nothing is known to be durable: fetch it again.
        case fetchAgain
    }

    /// Finds out after a crash what became of an intent, and brings it to where the steps can go
    /// on. Does the same again after another crash.
    ///
    /// Returns `nil` where the outbox is not in place: nothing was looked at.
    package func recover(
        _ intent: PublishIntent, now: FileStatus.Nanoseconds
    ) throws(SystemError) -> Recovered? {
        guard root.isInPlace() else { return nil }
        guard let staging = try StagingFolder.reopen(intent.start, in: root) else {
            return try recoverWithoutStaging(intent)
        }
        let branch = try tree.branch(at: intent.target.parent)
        let targetStatus: FileStatus? =
            if let branch { try branch.folder.status(of: intent.target.lastComponent) } else { nil }
        let decision = OutboxRecovery.decide(
            identity: intent.identity, replacing: intent.replacing,
            .init(
                staged: Self.found(try staging.folder.status(of: intent.stagedName)),
                target: Self.found(targetStatus),
                stagingFolderExists: true))
        switch decision {
        case .publishAgain: return try publishAgain(intent, staging)
        case .publishedAlready(let removingStaged):
            if removingStaged { try staging.folder.remove(intent.stagedName) }
            return try published(intent, branch, replaced: nil)
        case .keepReplaced:
            let replaced = try exchange(intent, staging, branch, now).keepReplaced()
            return try published(intent, branch, replaced: replaced)
        case .exchangeBack:
            guard case .putBack = try exchange(intent, staging, branch, now).putBack() else {
                return .fetchAgain
            }
            return try publishAgain(intent, staging)
        case .movedByUserLeaving(isAsDelivered: true):
            _ = try exchange(intent, staging, branch, now).keepReplaced()
            return .movedByUser
        case .movedByUserLeaving(isAsDelivered: false):
            try exchange(intent, staging, branch, now).giveNameBack()
            return .movedByUser
        case .movedByUser: return .movedByUser
        case .fetchAgain: return .fetchAgain
        }
    }

    // Makes the target's folder where the user removed it: something needs its name back.
    private func exchange(
        _ intent: PublishIntent, _ staging: StagingFolder, _ branch: OutboxTree.Branch?,
        _ now: FileStatus.Nanoseconds
    ) throws(SystemError) -> Exchange {
        let components = intent.target.parent.components
        let home: OutboxTree.Branch =
            if let branch { branch } else { try tree.place(components, making: true).branch }
        return Exchange(
            publisher: self, staging: staging, stagedName: intent.stagedName,
            identity: intent.identity, branch: home, target: intent.target.lastComponent, now: now)
    }

    private func recoverWithoutStaging(
        _ intent: PublishIntent
    ) throws(SystemError) -> Recovered {
        guard let branch = try tree.branch(at: intent.target.parent) else { return .fetchAgain }
        let decision = OutboxRecovery.decide(
            identity: intent.identity, replacing: intent.replacing,
            .init(
                staged: .nothing,
                target: Self.found(try branch.folder.status(of: intent.target.lastComponent)),
                stagingFolderExists: false))
        guard case .publishedAlready = decision else { return .fetchAgain }
        return try published(intent, branch, replaced: nil)
    }

    private func publishAgain(
        _ intent: PublishIntent, _ staging: StagingFolder
    ) throws(SystemError) -> Recovered {
        guard let file = try staging.reopen(intent.stagedName) else { return .fetchAgain }
        return .publishAgain(file)
    }

    private func published(
        _ intent: PublishIntent, _ branch: OutboxTree.Branch?, replaced: DeliveredCopy?
    ) throws(SystemError) -> Recovered {
        guard let branch else { return .movedByUser }
        try makeDurable(branch)
        guard let status = try branch.folder.status(of: intent.target.lastComponent),
            InodeIdentity(status) == intent.identity
        else { return .movedByUser }
        let seen = CopyFingerprint(status)
        // What its user made of it since is not what we delivered: it is known as that, so that
        // the change shows.
        let copy = DeliveredCopy(
            path: intent.target,
            fingerprint: seen.isSameButChanged(intent.fingerprint) ? seen : intent.fingerprint)
        var kept = replaced
        if kept == nil, let old = intent.replacing { kept = try findReplaced(old) }
        return .published(PublishedCopy(copy: copy, replaced: kept))
    }

    // The crash may have come after the old copy was put aside.
    private func findReplaced(_ old: CopyFingerprint) throws(SystemError) -> DeliveredCopy? {
        let name: BytePath = "replaced"
        let folder = try root.privateFolder(name)
        for entry in try folder.entries() where entry.inode == old.identity.inode {
            guard let status = try folder.status(of: entry.name),
                CopyFingerprint(status).isSameButChanged(old)
            else { continue }
            let path = FolderRoot.markFolder.appending(name).appending(entry.name)
            return DeliveredCopy(path: path, fingerprint: CopyFingerprint(status))
        }
        return nil
    }

    private static func found(_ status: FileStatus?) -> OutboxRecovery.Found {
        status.map { .file(CopyFingerprint($0)) } ?? .nothing
    }
}
