import ChuteSystem

/// The store of an engine that runs in another process: looks, and asks it to do things.
///
/// Never migrates, signs or touches blobs. What it asks for is answered by the engine.
public actor AttachedStore {
    private let executor: QueueExecutor
    private let connection: Connection
    private let device: DeviceID
    private let directory: BytePath

    /// This actor's own queue.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The file that is touched when something was asked.
    public static let nudgeName = "nudge"

    /// Opens the store in `directory`; `nil` where there is none yet.
    public init?(_ directory: BytePath) throws {
        guard let device = try DeviceKeyFile(in: directory).deviceID() else { return nil }
        let path = directory.appending(Chute.databaseName)
        guard try Folder(at: directory).status(of: BytePath(Chute.databaseName)) != nil else {
            return nil
        }
        executor = QueueExecutor(label: "chute.attached")
        connection = try Connection(path: path, mode: .readWrite)
        let found = try connection.prepare("PRAGMA user_version").first { $0.int(0) } ?? 0
        guard found == Schema.version else {
            if found == 0 { return nil }
            throw ChuteError(
                .storeIsNewer,
                "the store is of another version than this program: restart the agent")
        }
        // A question needs not survive a power cut, and no disk may be waited for while it has
        // the lock that the engine needs.
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        self.device = device
        self.directory = directory
    }

    /// Runs `body` on one committed state.
    public func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) throws -> Result {
        try connection.transaction(.deferred) {
            try body(Snapshot(database: connection, device: device))
        }
    }

    /// Asks the engine for something and wakes it; the number by which the answer is found.
    public func ask(_ request: Fields) throws -> Int64 {
        let now = StoreWriter.milliseconds() / 1000
        try connection.transaction(.immediate) {
            try connection.prepare("INSERT INTO requests (body, made_seconds) VALUES (?, ?)")
                .run(request.cbor.encoded(), now)
        }
        let number = connection.lastInsertedRow
        let folder = try Folder(at: directory)
        let nudge = try folder.open(
            BytePath(Self.nudgeName), FileDescriptor.readWriteCreate, mode: 0o600)
        try nudge.write([UInt8(truncatingIfNeeded: number)], at: 0)
        return number
    }

    /// Takes back what was asked and is not answered yet; `false` where it is answered. The engine
    /// can be about to do it all the same.
    @discardableResult
    public func withdraw(_ number: Int64) throws -> Bool {
        try connection.transaction(.immediate) {
            try connection.prepare("DELETE FROM requests WHERE id = ? AND answer IS NULL")
                .run(number)
            return try connection.prepare("SELECT 1 FROM requests WHERE id = ?")
                .first(number) { _ in true } == nil
        }
    }

    /// The engine's answer, once it is there, to who asked. It can be had once: what nobody needs any
    /// more is not kept for who asks every second.
    public func answer(to number: Int64) throws -> Fields? {
        let bytes = try connection.prepare("SELECT answer FROM requests WHERE id = ?")
            .first(number) { $0.optionalBytes(0) }
        guard let answer = bytes ?? nil else { return nil }
        do {
            try connection.transaction(.immediate) {
                try connection.prepare("DELETE FROM requests WHERE id = ?").run(number)
            }
        } catch {
            // The store was busy: the engine forgets it after an hour.
        }
        return try Fields(cbor: CBOR.decode(answer))
    }
}

extension Snapshot {
    /// What other processes ask and nobody answered yet, the oldest first, at most 64. `body` is
    /// `nil` where it is nothing that can be read: answer that too, or it stays open.
    public func openRequests() throws -> [(number: Int64, body: Fields?)] {
        try database.prepare(
            "SELECT id, body FROM requests WHERE answer IS NULL ORDER BY id LIMIT 64"
        ).all { row in (number: row.int64(0), body: Self.fields(row.bytes(1))) }
    }

    /// Any process of this user can write there: what does not decode is no damage of the store.
    private static func fields(_ bytes: [UInt8]) -> Fields? {
        do { return try Fields(cbor: CBOR.decode(bytes)) } catch { return nil }
    }
}

extension Transaction {
    /// Answers what another process asked; answers older than an hour are forgotten.
    public func answer(_ number: Int64, with answer: Fields) throws {
        try database.prepare("UPDATE requests SET answer = ? WHERE id = ?")
            .run(answer.cbor.encoded(), number)
        let past = now / 1000 > 3600 ? now / 1000 - 3600 : 0
        try database.prepare("DELETE FROM requests WHERE made_seconds < ?").run(past)
    }
}
