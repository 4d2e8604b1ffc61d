import ChuteSystem

/// One engine on one directory: a store of documents and attachments, and its replication.
///
/// `open` makes one, `startSync` lets it talk to others, `close` ends it. All that is local works
/// without replication. An engine that is not closed ends with its last reference: replication
/// stops, its observers hear no more, and the directory is free once nobody holds its store or a
/// collection of it either; `close` alone says when that is.
///
/// ## Concurrency
/// Everything may be called from anywhere at any time. `store` writes on its own queue and looks
/// on another one; replication is one group of tasks, the parent of all that it does.
public final class Chute: Sendable {
    /// Writes documents, asks for attachments.
    public let store: Store
    let roots: Roots
    let fetcher: Fetcher
    let attachments: AttachmentStore
    let replicator: Replicator
    let sync: SyncSwitch
    let context: SessionContext
    private let closed = Gate()

    /// This device.
    public var device: DeviceID { store.device }

    init(context: SessionContext, replicator: Replicator) {
        store = Store(
            writer: context.store, reader: context.reader, attachments: context.attachments)
        attachments = context.attachments
        roots = context.roots
        fetcher = context.fetcher
        self.context = context
        self.replicator = replicator
        sync = SyncSwitch(diagnostics: context.diagnostics) { stretch in
            try await replicator.replicate(during: stretch)
        }
    }

    deinit {
        sync.close()
        context.presence.close()
        fetcher.outcomes.close()
    }

    /// Ends the engine: stops replication, lets operations that run end, and frees the directory,
    /// which can be opened again when this returns.
    ///
    /// From then on whatever is asked of the engine, its store and its collections throws
    /// `closed`, and what cannot throw finds nothing; sequences of updates end. Closing twice is
    /// closing once, and both wait. Not undone by a cancel. Throws where the lock cannot be given
    /// back, which then goes with the process.
    public func close() async throws {
        guard sync.close() else { return await closed.wait() }
        defer { closed.open() }
        await sync.ended()
        await attachments.close()
        context.presence.close()
        fetcher.outcomes.close()
        try await store.close()
    }
}
