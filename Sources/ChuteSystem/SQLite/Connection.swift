import CSQLite

/// One open SQLite database.
///
/// Not `Sendable`, and opened without SQLite's own lock: whoever stores it gives it an isolation.
/// All calls block. Closed when it and the last of its statements are gone.
package final class Connection {
    package enum Mode: Sendable {
        /// Reads and writes; makes the file where there is none.
        case readWriteCreate
        /// Reads and writes an existing file.
        case readWrite
        /// Reads an existing file.
        case readOnly
    }

    package enum TransactionKind: Sendable {
        /// Takes the write lock at once: what the body reads stays true until it writes.
        case immediate
        /// Takes no lock before the first read, for bodies that only read.
        case deferred
    }

    private static let cachedStatementLimit = 256

    let handle: OpaquePointer
    /// Statements nobody holds, by where their text lies. One in use is not in here.
    private var idleStatements: [UnsafePointer<UInt8>: OpaquePointer] = [:]

    /// Opens the database at `path` and reads its header, so that a file that is none is refused
    /// here (`isCorrupt`) and left as it is.
    ///
    /// A call that meets another connection's lock waits up to `busyTimeout`, then throws an error
    /// that `isBusy`. Journal mode and `synchronous` are the caller's to set. The schema is not
    /// trusted, and no SQL can damage the file (`SQLITE_DBCONFIG_DEFENSIVE`).
    ///
    /// Calls `sqlite3_open_v2`.
    package init(
        path: BytePath, mode: Mode = .readWriteCreate, busyTimeout: Duration = .seconds(10)
    ) throws(SQLiteError) {
        let access =
            switch mode {
            case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        var opened: OpaquePointer?
        let code = path.withCString { name in
            sqlite3_open_v2(name, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        }
        guard let opened else {
            throw SQLiteError(code: code, message: String(cString: sqlite3_errstr(code)))
        }
        handle = opened
        try check(code)
        try check(sqlite3_extended_result_codes(handle, 1))
        let milliseconds = busyTimeout / .milliseconds(1)
        try check(sqlite3_busy_timeout(handle, Int32(min(milliseconds.rounded(.up), 1e9))))
        try check(chute_sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1))
        try check(chute_sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
        try execute("PRAGMA schema_version")
    }

    deinit {
        for statement in idleStatements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs one or more statements that take no values; what they return is dropped.
    ///
    /// Those before a failing one stay done, unless a transaction is open around them. Calls
    /// `sqlite3_exec`.
    package func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil), sql)
    }

    /// The statement of this text, compiled at most once as long as it is not in use twice.
    ///
    /// `sql` holds exactly one statement, as a literal: it is known by its address, and what
    /// comes from outside is bound. Asking for a text that is in use, even being stepped, gives a
    /// second, independent statement. Calls `sqlite3_prepare_v3`.
    package func prepare(_ sql: StaticString) throws(SQLiteError) -> Statement {
        precondition(sql.hasPointerRepresentation, "a statement of one character")
        if let idle = idleStatements.removeValue(forKey: sql.utf8Start) {
            return Statement(idle, sql: sql, connection: self)
        }
        var compiled: OpaquePointer?
        var rest: UnsafePointer<CChar>?
        let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
        let code = sqlite3_prepare_v3(
            handle, text, Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT),
            &compiled, &rest)
        try check(code, sql.description)
        let end = rest.map { $0 - text } ?? sql.utf8CodeUnitCount
        let tail = UnsafeBufferPointer(
            start: sql.utf8Start + end, count: sql.utf8CodeUnitCount - end)
        guard let compiled, tail.allSatisfy(\.isBlank) else {
            preconditionFailure("not exactly one statement: \(sql)")
        }
        return Statement(compiled, sql: sql, connection: self)
    }

    /// Runs `body` between `BEGIN` and `COMMIT`, with `ROLLBACK` where it or the commit throws.
    ///
    /// The changes are durable when this returns, as far as `synchronous` says so. Transactions do
    /// not nest: a second one inside `body` stops the program.
    package func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Result
    ) throws -> Result {
        precondition(!isInTransaction, "transactions do not nest")
        switch kind {
        case .immediate: try prepare("BEGIN IMMEDIATE").run()
        case .deferred: try prepare("BEGIN DEFERRED").run()
        }
        do {
            let result = try body()
            try prepare("COMMIT").run()
            return result
        } catch {
            // SQLite itself has rolled back after some errors, such as a full disk. A rollback
            // that fails must not hide why it was wanted.
            if isInTransaction { try? prepare("ROLLBACK").run() }
            throw error
        }
    }

    /// Whether a transaction is open. Calls `sqlite3_get_autocommit`.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The rowid of the last row inserted over this connection.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// How many rows the last `INSERT`, `UPDATE` or `DELETE` changed.
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Moves the write-ahead log into the database; `false` where a reader or writer was in the way
    /// and some of it is left.
    ///
    /// With `truncate` the log is empty afterwards, and the call waits for others up to the busy
    /// timeout. Calls `sqlite3_wal_checkpoint_v2`.
    @discardableResult
    package func checkpoint(truncate: Bool = true) throws(SQLiteError) -> Bool {
        let kind = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        var logged: Int32 = 0
        var moved: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(handle, nil, kind, &logged, &moved)
        if code & 0xFF == SQLITE_BUSY { return false }
        try check(code)
        return logged == moved
    }

    /// Keeps a statement that its holder let go of, for the next `prepare` of the same text.
    func takeBack(_ statement: OpaquePointer, sql: StaticString) {
        let hasRoom = idleStatements.count < Self.cachedStatementLimit
        guard hasRoom, idleStatements[sql.utf8Start] == nil else {
            sqlite3_finalize(statement)
            return
        }
        idleStatements[sql.utf8Start] = statement
    }

    /// Throws what `code` stands for. Must directly follow the failed call.
    func check(_ code: Int32, _ sql: String? = nil) throws(SQLiteError) {
        if code != SQLITE_OK { throw failure(code, sql) }
    }

    func failure(_ code: Int32, _ sql: String?) -> SQLiteError {
        // SQLite keeps the `errno` of the last I/O error: for other errors it is an old one.
        let isFromSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
        return SQLiteError(
            code: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql,
            systemCode: isFromSystem ? sqlite3_system_errno(handle) : 0)
    }
}

extension UInt8 {
    /// Whether this is nothing that SQLite would compile.
    fileprivate var isBlank: Bool {
        [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ";")].contains(self)
    }
}
