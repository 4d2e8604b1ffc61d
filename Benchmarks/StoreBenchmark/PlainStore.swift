import CSQLite

/// The same documents in one table of SQLite, with nothing of what makes them replicate.
final class PlainStore {
    struct Failure: Error { let message: String }

    private let database: OpaquePointer

    init(path: String) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
            throw Failure(message: "it cannot be opened")
        }
        database = opened
        try execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;
            PRAGMA wal_autocheckpoint = 4096;
            CREATE TABLE documents (
                collection TEXT NOT NULL, id BLOB NOT NULL, body BLOB NOT NULL,
                PRIMARY KEY (collection, id)) WITHOUT ROWID
            """)
    }

    deinit { sqlite3_close(database) }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(database)))
        }
    }

    private func prepare(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement
        else { throw Failure(message: String(cString: sqlite3_errmsg(database))) }
        return statement
    }

    private func key(_ number: Int) -> [UInt8] { Array("01J0000000\(number + 1_000_000_000)".utf8) }

    func measure(_ count: Int) throws {
        let insert = try prepare("INSERT INTO documents VALUES ('people', ?, ?)")
        let took = try timed {
            for start in stride(from: 0, to: count, by: batchSize) {
                try execute("BEGIN IMMEDIATE")
                for number in start..<min(start + batchSize, count) {
                    let (id, body) = (key(number), Array("{\"n\":\(number),\"name\":\"Ada\"}".utf8))
                    id.withUnsafeBytes {
                        _ = chute_sqlite3_bind_blob(insert, 1, $0.baseAddress, UInt64($0.count))
                    }
                    body.withUnsafeBytes {
                        _ = chute_sqlite3_bind_blob(insert, 2, $0.baseAddress, UInt64($0.count))
                    }
                    guard sqlite3_step(insert) == SQLITE_DONE else {
                        throw Failure(message: String(cString: sqlite3_errmsg(database)))
                    }
                    sqlite3_reset(insert)
                }
                try execute("COMMIT")
            }
        }
        sqlite3_finalize(insert)
        report("plain SQLite, inserts", Double(count) / seconds(took), "/s")

        let select = try prepare(
            "SELECT body FROM documents WHERE collection = 'people' AND id = ?")
        defer { sqlite3_finalize(select) }
        var bytes = 0
        let looked = timed {
            for number in 0..<lookupCount {
                let id = key(number &* 7919 % count)
                id.withUnsafeBytes {
                    _ = chute_sqlite3_bind_blob(select, 1, $0.baseAddress, UInt64($0.count))
                }
                if sqlite3_step(select) == SQLITE_ROW {
                    bytes += Int(sqlite3_column_bytes(select, 0))
                }
                sqlite3_reset(select)
            }
        }
        guard bytes > 0 else { throw Failure(message: "nothing was found") }
        report("plain SQLite, lookup", seconds(looked) / Double(lookupCount) * 1e6, "microseconds")
    }
}

let batchSize = 10_000
let lookupCount = 100_000
