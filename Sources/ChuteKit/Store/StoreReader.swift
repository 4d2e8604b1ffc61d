import ChuteSystem
import Synchronization

/// Looks at committed states of a store, beside its writer and in other processes too.
actor StoreReader {
    private let executor: QueueExecutor
    /// `nil` once it is closed.
    private var connection: Connection?
    private nonisolated let device: DeviceID
    private nonisolated let path: BytePath
    private nonisolated let queries = Mutex(Queries.notAsked)

    private enum Queries { case notAsked, open(StoreReader), closed }

    /// This actor's own queue.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens the database at `path` for reading. Blocks.
    init(path: BytePath, device: DeviceID) throws {
        executor = QueueExecutor(label: "chute.reader")
        let connection = try Connection(path: path, mode: .readOnly)
        try connection.execute("PRAGMA cache_size = -1024")
        self.connection = connection
        self.device = device
        self.path = path
    }

    /// The reader of queries, which may take long: sessions never wait for it. Opened when it is
    /// first asked for. Throws `closed`.
    nonisolated func forQueries() throws -> StoreReader {
        try queries.withLock { queries in
            switch queries {
            case .open(let known): return known
            case .closed: throw ChuteError.closed
            case .notAsked:
                let made = try StoreReader(path: path, device: device)
                queries = .open(made)
                return made
            }
        }
    }

    /// Runs `body` on one committed state. `body` must not keep the snapshot.
    func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) throws -> Result {
        guard let connection else { throw ChuteError.closed }
        return try connection.transaction(.deferred) {
            try body(Snapshot(database: connection, device: device))
        }
    }

    /// Ends reading for good, that of queries too: what runs ends first, what comes later throws
    /// `closed`.
    func close() async {
        connection = nil
        let other = queries.withLock { queries in
            defer { queries = .closed }
            if case .open(let other) = queries { return Optional(other) }
            return nil
        }
        await other?.close()
    }

    /// What the log calls a device: the name that it gave itself; the beginning of its id before
    /// that came, or where the store cannot be read.
    func name(of device: DeviceID, _ diagnostics: Diagnostics) -> String {
        do {
            return try read { try $0.profile(of: device)?.name } ?? device.short
        } catch {
            diagnostics.debug("the name of \(device.short) cannot be read: \(error)")
            return device.short
        }
    }
}
