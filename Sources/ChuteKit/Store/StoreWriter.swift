import ChuteSystem
import Glibc
import Synchronization

/// The database of one device: changes, documents, receipts, what lies where.
///
/// ## Concurrency
/// One actor on a queue of its own does all writing; `StoreReader`s look at committed states
/// beside it. A transaction runs from its first to its last statement without suspension.
actor StoreWriter {
    private let executor: QueueExecutor
    /// `nil` once it is closed.
    private var opened: Connection?
    /// Said before `close` comes to its turn: who waits for space waits no longer.
    private let isClosing = Atomic<Bool>(false)
    /// Held for as long as anybody can write here.
    private let lock: DirectoryLock?
    private let key: DeviceKey
    let diagnostics: Diagnostics
    private var state: WritingState
    private nonisolated let members: Mutex<(membership: Membership, hasKey: Bool)>
    nonisolated let signal: ChangeSignal
    let feed = DocumentFeed()
    /// Whether what is there is being taken into new indexes.
    var isIndexing = false
    /// The device whose store this is.
    nonisolated let device: DeviceID

    /// This actor's own queue.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens or makes the database at `path`, which no other process may write schema to: the
    /// caller holds the lock. Blocks.
    ///
    /// Throws `storeIsNewer` or `storeIsDamaged`, or what `check` does for a database that is there,
    /// and leaves the file as it is.
    init(
        path: BytePath, key: DeviceKey, sharedKey: SharedKey?, diagnostics: Diagnostics = .none,
        lock: DirectoryLock? = nil, check: (Connection) throws -> Void = { _ in }
    ) throws {
        executor = QueueExecutor(label: "chute.store")
        self.diagnostics = diagnostics
        self.lock = lock
        self.key = key
        device = DeviceID(publicKey: key.spki)
        signal = ChangeSignal()
        do {
            let connection = try Connection(path: path, mode: .readWriteCreate)
            opened = connection
            try Schema.check(connection)
            try check(connection)
            try Self.configure(connection)
            try Schema.migrate(connection)
            try connection.execute("UPDATE presence SET connected = 0")
            state = try WritingState.load(from: connection, sharedKey: sharedKey)
            state.membership = try Transaction.membership(of: state, device: key, in: connection)
            members = Mutex((state.membership, sharedKey != nil))
            try connection.execute("PRAGMA busy_timeout = 1000")  // see whenPossible
        } catch let error as SQLiteError where error.isCorrupt {
            throw ChuteError(
                .storeIsDamaged,
                "the store \(path) is damaged; nothing was changed. Move it away to start a new "
                    + "one: files in inbox and outbox stay, and are offered again",
                cause: error)
        }
    }

    private static func configure(_ connection: Connection) throws {
        try connection.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            PRAGMA journal_size_limit = 8388608; PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -16384; PRAGMA foreign_keys = OFF;
            PRAGMA wal_autocheckpoint = 4096
            """)
    }

    private var connection: Connection {
        get throws {
            guard let opened, !isClosing.load(ordering: .acquiring) else { throw ChuteError.closed }
            return opened
        }
    }

    /// Ends writing for good: what runs ends first, what comes later throws `closed`. Whoever
    /// waits on `updates` waits no longer. The directory's lock is free when it returns.
    func close() throws {
        opened = nil
        // Whoever follows a collection looks anew, and finds the store closed.
        feed.close()
        try lock?.release()
    }

    /// Says that `close` is about to be called.
    nonisolated func prepareToClose() {
        isClosing.store(true, ordering: .releasing)
        signal.close()
    }

    /// The space that this device is in, and who belongs to it.
    var space: SpaceID { state.space }
    var membership: Membership { state.membership }
    /// What a session has to know before it asks for a stream: see `Transaction.receive`.
    var streamRestarts: UInt64 { state.streamRestarts }
    var sharedKey: SharedKey? { state.sharedKey }
    var subscription: Subscription { state.subscription }

    /// What a peer gets that asked for `subscription`, by the members of the last commit; `nil`
    /// for who is none. Waits for nothing that is being written.
    nonisolated func view(of peer: DeviceID, _ subscription: Subscription) -> PeerView? {
        let (membership, hasKey) = members.withLock { $0 }
        // Whoever holds a shared key belongs to its space, also before its facts came.
        guard !hasKey else { return PeerView(subscription: subscription) }
        return PeerView(of: peer, in: membership, subscription: subscription)
    }

    /// Runs `body` in one transaction; all of it is durable when this returns, or, when `body`
    /// or the commit throws, nothing of it happened.
    ///
    /// `body` must not block on anything but the database. It runs anew where the disk was full: what
    /// it does beside the transaction must bear to be done again.
    func write<Result: Sendable>(
        durable: Store.Durability = .now, _ body: @Sendable (Transaction) throws -> Result
    ) throws -> Result {
        let connection = try connection
        if durable == .withNext { try connection.execute("PRAGMA synchronous = NORMAL") }
        defer {
            if durable == .withNext { restoreDurability(connection) }
        }
        var done: Transaction.Committed?
        let followed = feed.collections
        let result = try whenPossible(connection) {
            let transaction = Transaction(
                database: connection, key: key, state: state, now: Self.milliseconds(),
                followed: followed)
            let result = try body(transaction)
            if transaction.membersChanged { try transaction.refreshMembership() }
            try transaction.finish()
            done = transaction.committed
            return result
        }
        if let done { publish(done) }
        return result
    }

    private func publish(_ done: Transaction.Committed) {
        state = done.state
        members.withLock { $0 = (done.state.membership, done.state.sharedKey != nil) }
        for warning in done.warnings { diagnostics.warning(warning) }
        signal.fire(done.touched)
        feed.publish(
            done.state.commit, done.changed, resets: done.resets, isReset: done.isReset)
    }

    /// Tells `sink` of each commit from now on that changes documents of a collection, until
    /// `unfollow`. It is called on this actor's queue and must not block.
    func follow(
        _ collection: String, _ sink: @escaping @Sendable (DocumentFeed.Commit) -> Void
    ) -> UInt64 {
        feed.add(collection, sink)
    }

    nonisolated func unfollow(_ follower: UInt64) { feed.remove(follower) }

    /// Runs `body` in a transaction as soon as no other process has the lock and the disk has
    /// space, however long that is: a command can be stopped in the middle of asking, and a disk
    /// that others filled is no reason to end. `body` runs again each time. Throws what it meets
    /// when the task is cancelled meanwhile.
    private func whenPossible<Result>(
        _ connection: Connection, _ body: () throws -> Result
    ) throws -> Result {
        var hasSaid = false
        while true {
            var hasBegun = false
            do {
                return try connection.transaction(.immediate) {
                    hasBegun = true
                    return try body()
                }
            } catch let error as SQLiteError where !Task.isCancelled {
                // What had begun was rolled back: nothing has happened.
                if isClosing.load(ordering: .acquiring), error.isNoSpace || error.isBusy {
                    throw ChuteError.closed
                }
                if error.isNoSpace {
                    if !hasSaid { diagnostics.warning("the store waits for space: \(error)") }
                    hasSaid = true
                    sleep(1)
                } else if !error.isBusy || hasBegun {
                    throw error
                }
            }
        }
    }

    private func restoreDurability(_ connection: Connection) {
        do { try connection.execute("PRAGMA synchronous = FULL") } catch {
            // Going on without would break the promise of every later commit.
            preconditionFailure("the database does not take synchronous = FULL: \(error)")
        }
    }

    /// Tells those who wait on `topics` to look again, after another process wrote.
    nonisolated func look(at topics: Topics) { signal.fire(topics) }

    /// One element now, and one after each commit that touches one of `topics`.
    nonisolated func updates(of topics: Topics) -> AsyncStream<Void> {
        signal.updates(of: topics)
    }

    /// Milliseconds since 1970 by the wall clock, 0 before it.
    static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let (scaled, overflow) = Int64(now.tv_sec).multipliedReportingOverflow(by: 1000)
        if overflow || scaled < 0 { return now.tv_sec < 0 ? 0 : Stamp.latest.milliseconds }
        return UInt64(scaled) + UInt64(now.tv_nsec / 1_000_000)
    }

    /// Moves what the write-ahead log holds into the database file. For idle moments.
    func checkpoint() throws { _ = try connection.checkpoint(truncate: true) }
}
