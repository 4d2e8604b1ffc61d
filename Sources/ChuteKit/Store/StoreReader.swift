import ChuteSystem
import Synchronization

/// Looks at committed states of a store, beside its writer and in other processes too.
actor StoreReader {
    private let executor: QueueExecutor
    private let connection: Connection
    private nonisolated let device: DeviceID
    private nonisolated let path: BytePath
    private nonisolated let second = Mutex<StoreReader?>(nil)

    /// This actor's own queue.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens the database at `path` for reading. Blocks.
    init(path: BytePath, device: DeviceID) throws {
        executor = QueueExecutor(label: "chute.reader")
        connection = try Connection(path: path, mode: .readOnly)
        try connection.execute("PRAGMA cache_size = -1024")
        self.device = device
        self.path = path
    }

    /// The reader of queries, which may take long: sessions never wait for it. Opened when it is
    /// first asked for.
    nonisolated func forQueries() throws -> StoreReader {
        try second.withLock { second in
            if let second { return second }
            let made = try StoreReader(path: path, device: device)
            second = made
            return made
        }
    }

    /// Runs `body` on one committed state. `body` must not keep the snapshot.
    func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) throws -> Result {
        try connection.transaction(.deferred) {
            try body(Snapshot(database: connection, device: device))
        }
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
