import ChuteSystem

/// Talking to others.
extension Chute {
    /// Whether it replicates: from `startSync` or `run` on until that stops or fails.
    public var isSyncActive: Bool { sync.isOn }

    /// Replicates and fetches from now on, until `stopSync` or `close`. Returns once each transport
    /// was tried (`transportStates`) and dialling has begun; a call while it is on changes nothing.
    ///
    /// Members are told where this device listens, so that they find it again; what it publishes
    /// of itself beside that (`DeviceProfile`) stays as it is, under its short id without a name.
    ///
    /// Works any number of times. Where the store fails, replication ends, which `diagnostics` is
    /// told, `isSyncActive` is false, and the next start tries again; what is on disk is whole.
    ///
    /// Throws `closed`, `alreadySyncing` while `run` runs, what failed before it had begun, and
    /// `CancellationError` for a task that was cancelled before the call, which then did nothing.
    public func startSync() async throws { try await sync.start() }

    /// Ends replication, also that of `run`, which then returns. No connection and no task of it is
    /// left when this returns, within a second or so; local work goes on. Not undone by a cancel.
    public func stopSync() async { await sync.stop() }

    /// Replicates and fetches until the task is cancelled, `stopSync` or `close`: `startSync` for
    /// whoever has a task for it.
    ///
    /// Throws where the store fails: then nothing is certain but what is on disk, and a new start
    /// finds that. Throws `closed`, and `alreadySyncing` where replication is on.
    public func run() async throws { try await sync.run() }

    /// How each transport is, by its name; none while replication is off, and none of one that has
    /// not said anything yet.
    public var transportStates: [String: TransportState] {
        get async { await replicator.states }
    }

    /// What works or fails beside the transports; nothing while replication is off.
    public var networkParts: NetworkParts {
        get async {
            await replicator.parts.values.reduce(into: NetworkParts()) { all, parts in
                all.portMapping = all.portMapping ?? parts.portMapping
                all.multicastSpeaker = all.multicastSpeaker ?? parts.multicastSpeaker
            }
        }
    }

    /// What is transferred right now.
    public func transfers() -> [TransferStatus] { fetcher.progress.all() }

    /// What is wanted and no connected device is known to have, or may have.
    public func stalledFetches() async -> [AttachmentID] { await fetcher.stalled() }

    /// What was fetched since the last call, at least one; empty once the task is cancelled or the
    /// engine closed. One caller at a time. Not synced: that is for whoever publishes it.
    public func fetched() async -> [FetchOutcome] { await fetcher.outcomes.next() }

    /// Makes files below `path` servable and fetchable, for as long as its mark is there.
    ///
    /// `mark` is what the folder's `.chute/id` says; empty for a folder that cannot bear one.
    /// `isKept`: nobody but the user takes files out of it, so that other devices may rely on
    /// what lies there (see `keepers`).
    public func attach(root: Int64, path: BytePath, mark: [UInt8], isKept: Bool) {
        roots.attach(root, path: path, mark: mark, isKept: isKept)
    }

    /// Stops using a root. Nothing in it is touched.
    public func detach(root: Int64) { roots.detach(root) }

    /// Asks `devices` whether they have these attachments, at most 1024, whole in a kept folder
    /// now, and who says so.
    ///
    /// Who is not connected, or does not answer within 10 s, does not. Nor does who has to hash a
    /// file first, which the question sets going: ask again.
    public func keepers(
        of attachments: [AttachmentID], among devices: Set<DeviceID>
    ) async -> [AttachmentID: Set<DeviceID>] {
        await replicator.keepers(of: attachments, among: devices)
    }
}

/// What of the space comes here.
extension Chute {
    /// From now on, and after each start, takes of others only what matches one of `queries`:
    /// whole collections, or documents that meet a condition. Durable when it returns.
    ///
    /// What is here stays: evict what is not wanted any more. A document that is written so that
    /// it stops matching is still told of that, and of nothing after it. What others do not have
    /// from elsewhere they do not get from here either. Connections are made anew, and what
    /// matches comes once more: not for changing often. Apart from observers, which see what is
    /// here, whoever wanted it.
    ///
    /// Throws `invalid` for a query with a limit or an offset, for a name that no collection may
    /// have and for conditions that are too deep, `tooLarge` for over 32 KiB of them, `closed`.
    public func subscribe(to queries: [Query]) async throws {
        try await subscribe(
            Subscription(
                parts: try queries.map { query in
                    guard query.isWhole else {
                        throw ChuteError(
                            .invalid,
                            "a subscription is to all that matches: \(query.collection) was to "
                                + "have a limit or an offset")
                    }
                    try store[query.collection].checkName()
                    return .init(collection: query.collection, predicate: query.predicate)
                }))
    }

    /// Takes everything of the space again, which is what an engine does until it is told
    /// otherwise. Durable when it returns. Throws `closed`.
    public func subscribeToEverything() async throws { try await subscribe(.everything) }

    private func subscribe(_ subscription: Subscription) async throws {
        let isNew = try await store.write { try $0.subscribe(subscription) }
        if isNew { await replicator.endAll(.subscriptionChanged) }
    }
}

/// Other ways, while it runs.
extension Chute {
    /// Connects to an address by the transport that dials it, and hangs up: whether something
    /// answers there, and not who. Throws why not, and `invalid` where no transport dials it.
    public func probe(_ address: String) async throws {
        try sync.checkOpen()
        guard let transport = await replicator.transport(for: address) else {
            throw ChuteError(.invalid, "\(address): no transport that is switched on dials that")
        }
        _ = try await transport.connect(to: address)
    }

    /// Uses these transports and limits from now on, until it is closed. Those that stay as they
    /// are go on undisturbed; connections of the others end, and what they transferred goes on by
    /// another way.
    ///
    /// Throws `invalid`, and `notLocal` for a development identity with something beyond this
    /// link: then nothing is changed. Throws `closed`.
    public func use(_ network: Network) async throws {
        try sync.checkOpen()
        await replicator.reconfigure(
            try network.checked(isLocalOnly: replicator.isLocalOnly))
    }
}
