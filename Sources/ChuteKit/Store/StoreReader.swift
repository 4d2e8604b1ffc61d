import ChuteSystem

/// Looks at committed states of a store, beside its writer and in other processes too.
public actor StoreReader {
    private let executor: QueueExecutor
    private let connection: Connection
    private let device: DeviceID

    /// This actor's own queue.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens the database at `path` for reading. Blocks.
    init(path: BytePath, device: DeviceID) throws {
        executor = QueueExecutor(label: "chute.reader")
        connection = try Connection(path: path, mode: .readOnly)
        try connection.execute("PRAGMA cache_size = -1024")
        self.device = device
    }

    /// Runs `body` on one committed state. `body` must not keep the snapshot.
    public func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) throws -> Result {
        try connection.transaction(.deferred) {
            try body(Snapshot(database: connection, device: device))
        }
    }
}
