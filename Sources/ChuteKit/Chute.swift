import ChuteSystem

/// One engine on one directory: a store of documents and attachments, and its replication.
///
/// ## Concurrency
/// `store` writes on its own queue, `reader` looks beside it. `run` is the parent of all tasks
/// of replication; without it everything local works.
public final class Chute: Sendable {
    /// How the devices of a space know each other. All of it is encrypted.
    public enum Identity: Sendable {
        /// By tickets: each device is admitted by an owner.
        case paired
        /// Whoever holds the key is a member.
        case sharedKey(SharedKey)
    }

    /// What an engine listens to and dials.
    public struct Network: Sendable {
        /// `host:port` to listen at; `nil` for none.
        public var listen: String?
        /// Whether `listen` was asked for by its port: then no other port is taken.
        public var isPortFixed: Bool
        /// Addresses that are dialled for as long as the engine runs.
        public var connect: [String]

        /// Addresses to use.
        public init(listen: String?, isPortFixed: Bool, connect: [String]) {
            self.listen = listen
            self.isPortFixed = isPortFixed
            self.connect = connect
        }
    }

    /// Writes documents, asks for attachments.
    public let store: Store
    let roots: Roots
    let fetcher: Fetcher
    let attachments: AttachmentStore
    private let replicator: Replicator
    private let keptFiles: KeptFiles
    private let lock: DirectoryLock

    /// This device.
    public var device: DeviceID { store.device }

    /// Opens the engine of `directory`, which is made where it does not exist (0700).
    ///
    /// Throws `heldElsewhere` where another engine has it, `deviceKey` where the key was copied
    /// (unless `isMoved`), `storeIsNewer` and `storeIsDamaged`. Blocks for some milliseconds.
    public static func open(
        _ directory: BytePath, identity: Identity = .paired, isMoved: Bool = false,
        network: Network, diagnostics: Diagnostics = .none
    ) async throws -> Chute {
        let lock = try DirectoryLock(directory)
        return try await open(
            lock, identity: identity, isMoved: isMoved, network: network,
            diagnostics: diagnostics)
    }

    /// Opens the engine of a directory whose lock is held already.
    public static func open(
        _ lock: DirectoryLock, identity: Identity = .paired, isMoved: Bool = false,
        network: Network, diagnostics: Diagnostics = .none
    ) async throws -> Chute {
        let key = try DeviceKeyFile(in: lock.directory).loadOrMake()
        let path = lock.directory.appending(databaseName)
        var sharedKey: SharedKey?
        if case .sharedKey(let given) = identity { sharedKey = given }
        let store = try StoreWriter(
            path: path, key: key, sharedKey: sharedKey, diagnostics: diagnostics)
        try await store.checkKeyFile(in: lock.directory, isMoved: isMoved)
        if let sharedKey { try await store.write { try $0.enter(sharedKey) } }
        let reader = try StoreReader(path: path, device: store.device)
        let roots = Roots()
        let blobs = try await BlobFolder.open(
            in: lock.directory, store: store, reader: reader, roots: roots,
            diagnostics: diagnostics)
        let fetcher = Fetcher(
            store: store, reader: reader, roots: roots, blobsRoot: blobs.root,
            diagnostics: diagnostics)
        let attachments = AttachmentStore(
            blobs: blobs, store: store, reader: reader, roots: roots, fetcher: fetcher,
            diagnostics: diagnostics)
        let instance = SecretBytes.random(count: 8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let context = SessionContext(
            store: store, reader: reader, tls: try TLSContext(key: key), instance: instance,
            roots: roots, fetcher: fetcher,
            keptFiles: KeptFiles(reader: reader, roots: roots, diagnostics: diagnostics),
            diagnostics: diagnostics)
        return Chute(
            store: Store(writer: store, reader: reader, attachments: attachments),
            attachments: attachments, roots: roots, fetcher: fetcher,
            replicator: Replicator(
                context: context, listen: network.listen, isPortFixed: network.isPortFixed,
                connect: network.connect),
            keptFiles: context.keptFiles, lock: lock)
    }

    static let databaseName = "chute.db"

    private init(
        store: Store, attachments: AttachmentStore, roots: Roots, fetcher: Fetcher,
        replicator: Replicator, keptFiles: KeptFiles, lock: DirectoryLock
    ) {
        self.store = store
        self.attachments = attachments
        self.roots = roots
        self.fetcher = fetcher
        self.replicator = replicator
        self.keptFiles = keptFiles
        self.lock = lock
    }

    /// Replicates and fetches until cancelled. Throws where the store fails: then nothing is
    /// certain but what is on disk, and a new start finds that.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.replicator.run() }
            group.addTask { await self.keptFiles.run() }
            group.addTask { try await self.fetcher.run() }
            group.addTask { try await self.attachments.blobs.upkeep() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

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

    /// What was fetched since the last call, at least one; empty once the task is cancelled.
    /// One caller at a time. Not synced: that is for whoever publishes it.
    public func fetched() async -> [FetchOutcome] { await fetcher.outcomes.next() }

    /// Joins the space of a ticket; `run` must be running. Durable when it returns.
    ///
    /// Throws `unreachable`, `refused` with the inviter's reason, or `alreadyInSpace`.
    public func join(_ ticket: Ticket) async throws {
        try await store.writer.checkCanJoin(ticket)
        do { try await replicator.join(ticket) } catch let end as SessionEnd {
            throw end.forJoiner
        }
    }

    /// The space, if this device shares with others or could.
    public var space: SpaceID? {
        get async {
            let space = await store.writer.space
            return space == .alone ? nil : space
        }
    }

    /// How many devices are connected.
    var sessionCount: Int { get async { await replicator.sessionCount } }

    /// What is dialled now.
    var dialledAddresses: Set<String> { get async { await replicator.dialing } }

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

    /// What is transferred right now.
    public func transfers() -> [TransferStatus] { fetcher.progress.all() }

    /// What is wanted and no connected device is known to have, or may have.
    public func stalledFetches() async -> [AttachmentID] { await fetcher.stalled() }

    /// By how many seconds the clocks of connected devices are ahead of this one's, as they last
    /// said; negative where they are behind. Nothing is decided by it.
    public func clockLeads() async -> [DeviceID: Int64] {
        await replicator.clockLeads().mapValues { $0 / 1000 }
    }

    /// The members that said that this device was removed from the space. Empty once they let it
    /// in again, and always in a space with a shared key.
    public var removedBy: [DeviceID] { get async { await replicator.removedBy } }

    /// How listening goes; `nil` before it was tried, or where nothing listens.
    public var listenState: ListenState? { get async { await replicator.listenState } }
}
