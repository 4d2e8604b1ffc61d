package import ChuteSystem
import Glibc

/// Gives staged files their names in one outbox, in an order that no power cut can turn into a
/// lost, half or doubled file.
///
/// The order is that of a `PublishGroup`: sync, commit intents, rename, sync folders, commit
/// delivered. All calls block.
///
/// ## Concurrency
/// Not `Sendable`: it belongs to the one actor, with an executor of its own, that publishes into
/// this outbox.
package final class OutboxPublisher {
    /// How published files look.
    package struct Modes: Hashable, Sendable {
        /// `nil`: 0666 less the umask. Execute bits are left out.
        package var file: UInt32?
        /// `nil`: 0777 less the umask.
        package var folder: UInt32?

        package init(file: UInt32? = nil, folder: UInt32? = nil) {
            self.file = file
            self.folder = folder
        }
    }

    package let root: FolderRoot
    package let kind: FileSystemKind
    let modes: Modes
    let tree: OutboxTree
    /// Whether the open user's file has the bytes of the item: hashes it through this descriptor.
    /// A file that cannot be read is not identical.
    let isIdentical: (borrowing FileDescriptor, PublishItem) -> Bool
    var syncPlan = SyncPlan()
    /// Folders whose names above them are known to be durable since this start.
    private var durableFolders: Set<OutboxTree.Branch.Key> = []

    package init(
        root: FolderRoot, modes: Modes = Modes(),
        isIdentical: @escaping (borrowing FileDescriptor, PublishItem) -> Bool
    ) throws(SystemError) {
        self.root = root
        self.modes = modes
        self.isIdentical = isIdentical
        kind = try FileSystemKind.of(root.folder)
        tree = OutboxTree(root: root, folderMode: modes.folder)
    }

    /// Starts a group. `now` dates what goes to `.chute/replaced`; `writesBigFile` says that a
    /// file over `SyncPlan.bigSize` is being written meanwhile.
    package func begin(
        _ items: [PublishItem], now: FileStatus.Nanoseconds, writesBigFile: Bool = false
    ) -> PublishGroup {
        PublishGroup(items, publisher: self, now: now, writesBigFile: writesBigFile)
    }

    /// All steps for a group: `commitIntents` may be called more than once, when a name was
    /// taken meanwhile; later intents of an item take the place of earlier ones.
    ///
    /// When a commit throws, nothing more is done: what is on disk is what recovery expects.
    package func publish(
        _ items: [PublishItem], now: FileStatus.Nanoseconds, writesBigFile: Bool = false,
        isolation: isolated (any Actor)? = #isolation,
        commitIntents: ([PublishIntent]) async throws -> Void,
        commitDelivered: ([PublishOutcome]) async throws -> Void
    ) async throws -> [PublishOutcome] {
        let group = begin(items, now: now, writesBigFile: writesBigFile)
        group.sync()
        var intents = group.intents()
        while !intents.isEmpty {
            try await commitIntents(intents)
            group.rename()
            intents = group.intents()
        }
        group.syncFolders()
        let outcomes = group.outcomes
        try await commitDelivered(outcomes)
        group.discardAdopted()
        return outcomes
    }

    /// Syncs the folder and, the first time since this start, all names that lead to it: a crash
    /// may have come between making a folder and syncing it.
    func makeDurable(_ branch: OutboxTree.Branch) throws(SystemError) {
        try Self.syncFolder(branch.folder)
        var current = branch
        while let above = current.above, !durableFolders.contains(current.key) {
            try Self.syncFolder(above.folder)
            durableFolders.insert(current.key)
            current = above
        }
    }

    /// As `makeDurable`, the error as a value.
    func failureOfSync(_ branch: OutboxTree.Branch) -> SystemError? {
        do throws(SystemError) {
            try makeDurable(branch)
            return nil
        } catch {
            return error
        }
    }

    static func syncFolder(_ folder: borrowing Folder) throws(SystemError) {
        try folder.syncNames()
    }
}
