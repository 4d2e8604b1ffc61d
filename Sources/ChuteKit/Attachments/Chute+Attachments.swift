import ChuteSystem

/// Upkeep of attachments. Anyone may call these, also while nothing is shared.
extension Chute {
    /// Keeps an attachment from garbage collection, whether or not a document names it and
    /// whether or not its bytes are here. Durable when it returns.
    public func pin(_ token: AttachmentToken) async throws {
        try attachments.checkOpen()
        try await store.write { try $0.pin(token.id, .asked) }
    }

    /// Lets garbage collection have an attachment again once no document names it; also one that
    /// was moved in and that no document has named. Durable when it returns.
    public func unpin(_ token: AttachmentToken) async throws {
        try attachments.checkOpen()
        try await store.write { try $0.unpin(token.id) }
    }

    /// Whether `pin` keeps an attachment.
    public func isPinned(_ token: AttachmentToken) async throws -> Bool {
        try await store.read { try $0.isPinned(token.id) }
    }

    /// Removes the engine's own attachments that no document names, nobody pinned, fetches or
    /// reads, and that were taken in and used last more than `grace` ago. Files of users are
    /// never touched. Happens by itself every ten minutes while the engine shares.
    ///
    /// With `dryRun` nothing is removed: the report says what would be. Cancelled, it throws, and
    /// what it removed by then is gone.
    @discardableResult
    public func collectGarbage(
        dryRun: Bool = false, grace: Duration = .seconds(3600)
    ) async throws -> GarbageReport {
        try attachments.checkOpen()
        return try await attachments.blobs.collectGarbage(
            grace: grace, dryRun: dryRun, includesRows: true)
    }

    /// Hashes all of the engine's own attachments. Those that are damaged are put aside, into
    /// `blobs/damaged`, and no longer count as being here: the next fetch gets them again. Throws
    /// `CancellationError`, and `file` where the system has too little of something, such as open
    /// files; what was found by then is done.
    public func verify() async throws -> VerificationReport {
        try attachments.checkOpen()
        return try await attachments.blobs.verify()
    }

    /// What the engine takes on disk.
    public func diskUsage() async throws -> DiskUsage {
        try await attachments.blobs.diskUsage()
    }

    /// Sets how many bytes all attachments of the engine's own together may have; `nil` for what
    /// the disk has. Taking in or fetching more throws `overQuota`. Holds until the engine is
    /// closed; what is there already stays.
    public func limitAttachments(byteCount: UInt64?) async {
        await attachments.blobs.limit(byteCount: byteCount)
    }

    /// Sets how many bytes this device keeps at most of what it fetches for other devices and does
    /// not take itself, 0 for none; 1 GiB unless set. Holds until the engine is closed.
    ///
    /// A connected device that finds nobody with the bytes asks for that, and gets them where
    /// another connected device is known to have them. They go after a day without use, the least
    /// recently used first where they are too many, and count for nothing: not as held, not for
    /// receipts, not for `limitAttachments`. What is over the limit is gone when this returns.
    public func setRelayCache(byteCount: UInt64) async throws {
        try attachments.checkOpen()
        try await attachments.relays.limit(byteCount: byteCount)
    }

    /// How all fetches that are under way stand, taken together.
    public var fetchProgress: FetchProgress { attachments.fetches.progress }

    /// `fetchProgress` now and after each change, until the engine is closed. Who takes slowly
    /// gets the last.
    public func fetchProgressUpdates() -> AsyncStream<FetchProgress> {
        attachments.fetches.progressUpdates()
    }

    /// The other devices that are known to have an attachment: their receipts say so, they wrote
    /// a document that names it, or they are connected and said so while it was fetched.
    public func holders(of token: AttachmentToken) async throws -> Set<DeviceID> {
        let known = try await store.read { try $0.knownHolders(of: token.id) }
        return known.union(await fetcher.holders(of: token.id))
    }
}
