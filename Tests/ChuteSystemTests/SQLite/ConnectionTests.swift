import ChuteSystem
import Glibc
import TestSupport
import Testing

@Suite struct ConnectionTests {
    /// Calls `body` with a fresh database that has a table `t (n INTEGER PRIMARY KEY, v)`.
    private func withDatabase(_ body: (Connection, BytePath) throws -> Void) async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("store.db")
            let connection = try Connection(path: path, busyTimeout: .zero)
            try connection.execute(
                "PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER PRIMARY KEY, v)")
            try body(connection, path)
        }
    }

    private func count(_ connection: Connection) throws -> Int? {
        try connection.prepare("SELECT count(*) FROM t").first { $0.int(0) }
    }

    @Test func `values come back as they were bound`() async throws {
        try await withDatabase { db, _ in
            let insert = try db.prepare("INSERT INTO t VALUES (?, ?)")
            let blob: [UInt8] = [0, 1, 0, 255, 0]
            let missing: [UInt8]? = nil
            let path = BytePath(bytes: [0x63, 0xE9, 0x0A])
            try insert.run(1, blob)
            try insert.run(2, [UInt8]())
            try insert.run(3, "caf\u{65}\u{301}\0!")
            try insert.run(4, "")
            try insert.run(5, UInt64.max)
            try insert.run(6, Int64.min)
            try insert.run(7, 0.1)
            try insert.run(8, missing)
            try insert.run(9, nil)
            try insert.run(10, path)
            try insert.run(11, blob[1...])
            #expect(db.lastInsertedRow == 11)

            let select = try db.prepare("SELECT v, typeof(v) FROM t WHERE n = ?")
            #expect(try select.first(1) { $0.bytes(0) } == blob)
            #expect(try select.first(2) { ($0.optionalBytes(0) ?? [9]) + [7] } == [7])
            #expect(try select.first(2) { $0.text(1) } == "blob")
            let text = try select.first(3) { Array($0.text(0).utf8) }
            #expect(text == Array("caf\u{65}\u{301}\0!".utf8))
            #expect(try select.first(4) { $0.text(1) } == "text")
            #expect(try select.first(5) { $0.uint64(0) } == .max)
            #expect(try select.first(6) { $0.int64(0) } == .min)
            #expect(try select.first(7) { $0.double(0) } == 0.1)
            #expect(try select.first(8) { $0.isNull(0) } == true)
            #expect(try select.first(9) { $0.optionalInt(0) == nil } == true)
            #expect(try select.first(10) { $0.path(0) } == path)
            #expect(try select.first(11) { $0.bytes(0) } == Array(blob[1...]))
            #expect(try select.first(12) { $0.int(0) } == nil)
        }
    }

    @Test func `rows come in order and the number of changes is known`() async throws {
        try await withDatabase { db, _ in
            for n in 1...5 { try db.prepare("INSERT INTO t VALUES (?, ?)").run(n, n * n) }
            let rows = try db.prepare("SELECT n, v FROM t WHERE n > ? ORDER BY n").all(2) {
                ($0.int(0), $0.int(1))
            }
            #expect(rows.map(\.0) == [3, 4, 5])
            #expect(rows.map(\.1) == [9, 16, 25])
            try db.prepare("DELETE FROM t WHERE n < ?").run(3)
            #expect(db.changes == 2)
        }
    }

    @Test func `a refused constraint says so, without the value`() async throws {
        try await withDatabase { db, _ in
            let insert = try db.prepare("INSERT INTO t VALUES (?, ?)")
            try insert.run(1, "first")
            let error = #expect(throws: SQLiteError.self) { try insert.run(1, "secret") }
            #expect(error?.isConstraint == true)
            #expect(error?.isBusy == false)
            #expect(error?.description.contains("secret") == false)
            try insert.run(2, "the statement is usable after it")
            #expect(try count(db) == 2)
        }
    }

    @Test func `a locked database is busy, and free after the commit`() async throws {
        try await withDatabase { db, path in
            let other = try Connection(path: path, busyTimeout: .zero)
            try db.transaction {
                let error = #expect(throws: SQLiteError.self) {
                    try other.transaction { Issue.record("the body ran without the lock") }
                }
                #expect(error?.isBusy == true)
                #expect(!other.isInTransaction)
            }
            try other.transaction { try other.prepare("INSERT INTO t VALUES (1, 1)").run() }
            #expect(try count(db) == 1)
        }
    }

    @Test func `a transaction that throws leaves nothing`() async throws {
        struct Stop: Error {}
        try await withDatabase { db, _ in
            #expect(throws: Stop.self) {
                try db.transaction {
                    try db.prepare("INSERT INTO t VALUES (1, 1)").run()
                    throw Stop()
                }
            }
            #expect(try count(db) == 0)
            let value = try db.transaction {
                try db.prepare("INSERT INTO t VALUES (1, 1)").run()
                return 7
            }
            #expect(value == 7)
            #expect(try count(db) == 1)
        }
    }

    @Test func `a failing commit is thrown and rolled back`() async throws {
        try await withDatabase { db, _ in
            try db.execute(
                """
                PRAGMA foreign_keys = ON;
                CREATE TABLE child (n REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED)
                """)
            let error = #expect(throws: SQLiteError.self) {
                try db.transaction { try db.prepare("INSERT INTO child VALUES (9)").run() }
            }
            #expect(error?.isConstraint == true)
            #expect(!db.isInTransaction)
            #expect(try db.prepare("SELECT count(*) FROM child").first { $0.int(0) } == 0)
        }
    }

    @Test func `a statement asked for while it is read is a second one`() async throws {
        try await withDatabase { db, _ in
            for n in 1...3 { try db.prepare("INSERT INTO t VALUES (?, ?)").run(n, n % 3 + 1) }
            let sql: StaticString = "SELECT v FROM t WHERE n >= ? ORDER BY n"
            var seen: [Int] = []
            try db.prepare(sql).forEach(1) { row in
                let next = try db.prepare(sql).first(row.int(0)) { $0.int(0) }
                seen.append(next ?? 0)
            }
            #expect(seen == [3, 1, 2])
        }
    }

    @Test func `a reader that leaves early holds up nobody`() async throws {
        struct Stop: Error {}
        try await withDatabase { db, path in
            for n in 1...3 { try db.prepare("INSERT INTO t VALUES (?, ?)").run(n, n) }
            let select = try db.prepare("SELECT n FROM t")
            #expect(throws: Stop.self) { try select.forEach { _ in throw Stop() } }
            #expect(try select.first { $0.int(0) } == 1)
            let other = try Connection(path: path, busyTimeout: .zero)
            #expect(try other.checkpoint())
        }
    }

    @Test func `a checkpoint held up by a reader says so`() async throws {
        try await withDatabase { db, path in
            let other = try Connection(path: path, busyTimeout: .zero)
            try db.prepare("INSERT INTO t VALUES (1, 1)").run()
            try other.transaction(.deferred) {
                #expect(try count(other) == 1)
                try db.prepare("INSERT INTO t VALUES (2, 2)").run()
                #expect(try !db.checkpoint())
            }
            #expect(try db.checkpoint())
        }
    }

    @Test(arguments: [0, 3, 20_000])
    func `a picture opened as a database is refused and left alone`(padding: Int) async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("photo.jpg")
            let picture = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0x5A, count: padding)
            try write(picture, to: path)
            let error = #expect(throws: SQLiteError.self) {
                try Connection(path: path).execute("CREATE TABLE t (n)")
            }
            #expect(error?.isCorrupt == true)
            #expect(try read(path) == picture)
        }
    }

    @Test func `a read-only connection makes no file and changes none`() async throws {
        try await withDatabase { db, path in
            let reader = try Connection(path: path, mode: .readOnly)
            #expect(try count(reader) == 0)
            #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
            let absent = path.parent.appending("absent.db")
            #expect(throws: SQLiteError.self) { try Connection(path: absent, mode: .readOnly) }
            #expect(access(try #require(absent.string), F_OK) != 0)
        }
    }

    @Test func `a statement that does not compile is an error`() async throws {
        try await withDatabase { db, _ in
            let error = #expect(throws: SQLiteError.self) { try db.prepare("SELECT x FROM t") }
            #expect(error?.sql == "SELECT x FROM t")
            #expect(error?.message == "no such column: x")
        }
    }

    @Test func `misuse stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let db = try Connection(path: ":memory:")
            try db.transaction { try db.transaction {} }
        }
        await #expect(processExitsWith: .failure) {
            try Connection(path: ":memory:").prepare("SELECT ?").run(1, 2)
        }
        await #expect(processExitsWith: .failure) {
            _ = try Connection(path: ":memory:").prepare("SELECT 1; SELECT 2")
        }
    }

    private func write(_ bytes: [UInt8], to path: BytePath) throws {
        let file = path.withCString { open($0, O_WRONLY | O_CREAT, 0o600) }
        defer { close(file) }
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    private func read(_ path: BytePath) throws -> [UInt8] {
        let file = path.withCString { open($0, O_RDONLY) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(file, &bytes, bytes.count)
        return Array(bytes.prefix(count))
    }
}
