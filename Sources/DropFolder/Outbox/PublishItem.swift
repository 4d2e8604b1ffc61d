package import ChuteSystem

/// A file to be published: staged, hashed, and with the name it is to have.
package struct PublishItem: Sendable {
    package enum Durability: Hashable, Sendable {
        /// Written, not synced by us.
        case written
        /// Written a second time, since the sync of the first failed: synced alone.
        case rewritten
        /// Synced and in an intent before a crash.
        case synced
    }

    package let staged: StagedFile
    /// Below the outbox, as `OutboxNaming` gave them; the last one is the file's.
    package let components: [[UInt8]]
    /// The time that the copy gets.
    package let modified: FileStatus.Nanoseconds?
    package let durability: Durability
    /// The copy of an earlier version that this one replaces, if it is untouched.
    package let replacing: DeliveredCopy?

    package init(
        staged: StagedFile, components: [[UInt8]], modified: FileStatus.Nanoseconds? = nil,
        durability: Durability = .written, replacing: DeliveredCopy? = nil
    ) {
        self.staged = staged
        self.components = components
        self.modified = modified
        self.durability = durability
        self.replacing = replacing
    }
}

/// A copy that was published: where, and as what.
package struct DeliveredCopy: Hashable, Sendable {
    /// Below the outbox.
    package let path: BytePath
    package let fingerprint: CopyFingerprint

    package init(path: BytePath, fingerprint: CopyFingerprint) {
        self.path = path
        self.fingerprint = fingerprint
    }
}

/// What is committed before a file gets its name, so that recovery knows it.
package struct PublishIntent: Hashable, Sendable {
    /// The index of the item in its group.
    package let index: Int
    package let start: BytePath
    package let stagedName: BytePath
    /// Below the outbox.
    package let target: BytePath
    /// Of the staged file as it was synced: its name alone changes afterwards, or its user.
    package let fingerprint: CopyFingerprint
    /// What `target` holds and is exchanged against; `nil` where the name is free.
    package let replacing: CopyFingerprint?

    package var identity: InodeIdentity { fingerprint.identity }
    /// The start, then the name.
    var staged: BytePath { start.appending(stagedName) }

    package init(
        index: Int, start: BytePath, stagedName: BytePath, target: BytePath,
        fingerprint: CopyFingerprint, replacing: CopyFingerprint?
    ) {
        self.index = index
        self.start = start
        self.stagedName = stagedName
        self.target = target
        self.fingerprint = fingerprint
        self.replacing = replacing
    }
}
