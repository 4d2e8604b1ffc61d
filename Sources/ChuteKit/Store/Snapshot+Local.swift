import ChuteSystem

/// A row of a local collection: never replicated, in one transaction with what is.
public protocol LocalRow: Sendable {
    /// The collection's name: one type of row in each.
    static var collection: String { get }
    /// What tells this row from the others of its collection.
    var key: [UInt8] { get }
    /// Whether any row of this type has indexes.
    static var isIndexed: Bool { get }
    /// Values by which rows are looked up, at most one for each name; several rows may share one.
    var indexes: [RowIndex] { get }
    /// All of the row, the key included.
    var fields: Fields { get }
    /// The row of `fields`; throws where they are not of this type.
    init(fields: Fields) throws
}

/// A value by which a row is looked up.
public struct RowIndex: Hashable, Sendable {
    /// Which of the type's indexes.
    public let name: String
    /// The value of the row in it.
    public let value: [UInt8]

    /// A value of an index.
    public init(_ name: String, _ value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

extension LocalRow {
    /// Rows of most types are looked up by their key alone.
    public static var isIndexed: Bool { false }
    /// None.
    public var indexes: [RowIndex] { [] }
}

extension Snapshot {
    /// The row of a key.
    public func row<Row: LocalRow>(_ type: Row.Type = Row.self, _ key: [UInt8]) throws -> Row? {
        try database.prepare("SELECT body FROM local_rows WHERE collection = ? AND key = ?")
            .first(Row.collection, key) { try Self.decode($0.bytes(0)) }
    }

    /// The rows with a value in an index whose key is greater than `key`, in the order of their
    /// keys.
    public func rows<Row: LocalRow>(
        _ type: Row.Type = Row.self, where index: String, is value: [UInt8],
        after key: [UInt8] = [], limit: Int = .max
    ) throws -> [Row] {
        try database.prepare(
            """
            SELECT r.body FROM local_index i JOIN local_rows r
            ON r.collection = i.collection AND r.key = i.key
            WHERE i.collection = ? AND i.name = ? AND i.value = ? AND i.key > ?
            ORDER BY i.key LIMIT ?
            """
        ).all(Row.collection, index, value, key, limit) { try Self.decode($0.bytes(0)) }
    }

    /// The rows whose key is greater than `key`, in that order, at most `limit`.
    public func rows<Row: LocalRow>(
        _ type: Row.Type = Row.self, after key: [UInt8] = [], limit: Int = .max
    ) throws -> [Row] {
        try database.prepare(
            "SELECT body FROM local_rows WHERE collection = ? AND key > ? ORDER BY key LIMIT ?"
        ).all(Row.collection, key, limit) { try Self.decode($0.bytes(0)) }
    }

    /// How many rows there are, or have a value in an index.
    public func count<Row: LocalRow>(_ type: Row.Type) throws -> Int {
        try database.prepare("SELECT count(*) FROM local_rows WHERE collection = ?")
            .first(Row.collection) { $0.int(0) } ?? 0
    }

    /// How many rows have each value of an index.
    public func counts<Row: LocalRow>(
        _ type: Row.Type, by index: String
    ) throws -> [[UInt8]: Int] {
        var counts: [[UInt8]: Int] = [:]
        try database.prepare(
            """
            SELECT value, count(*) FROM local_index WHERE collection = ? AND name = ?
            GROUP BY value
            """
        ).forEach(Row.collection, index) { counts[$0.bytes(0)] = $0.int(1) }
        return counts
    }

    fileprivate static func decode<Row: LocalRow>(_ bytes: [UInt8]) throws -> Row {
        try Row(fields: Fields(cbor: CBOR.decode(bytes)))
    }
}

extension Transaction {
    /// Writes a row, in the place of an earlier one of the same key.
    public func put<Row: LocalRow>(_ row: Row) throws {
        try put(row, over: Row.isIndexed ? self.row(Row.self, row.key) : nil)
    }

    /// Writes a row in the place of `old`, which this transaction has read: the row of the same
    /// key, or `nil` where there is none.
    public func put<Row: LocalRow>(_ row: Row, over old: Row?) throws {
        let key = row.key
        let indexes = row.indexes
        precondition(Row.isIndexed || indexes.isEmpty, "\(Row.self) says that it has no indexes")
        let oldIndexes = old?.indexes ?? []
        for index in oldIndexes where !indexes.contains(index) {
            try removeIndex(index, Row.collection, key)
        }
        try database.prepare("INSERT OR REPLACE INTO local_rows VALUES (?, ?, ?)")
            .run(Row.collection, key, row.fields.cbor.encoded())
        for index in indexes where !oldIndexes.contains(index) {
            try database.prepare("INSERT OR REPLACE INTO local_index VALUES (?, ?, ?, ?)")
                .run(Row.collection, index.name, index.value, key)
        }
    }

    /// Removes a row; nothing happens where there is none.
    public func remove<Row: LocalRow>(_ type: Row.Type = Row.self, _ key: [UInt8]) throws {
        guard Row.isIndexed else {
            return try database.prepare("DELETE FROM local_rows WHERE collection = ? AND key = ?")
                .run(Row.collection, key)
        }
        let old: Row? = try database.prepare(
            "DELETE FROM local_rows WHERE collection = ? AND key = ? RETURNING body"
        ).first(Row.collection, key) { try Self.decode($0.bytes(0)) }
        for index in old?.indexes ?? [] { try removeIndex(index, Row.collection, key) }
    }

    private func removeIndex(
        _ index: RowIndex, _ collection: String, _ key: [UInt8]
    ) throws {
        try database.prepare(
            "DELETE FROM local_index WHERE collection = ? AND name = ? AND value = ? AND key = ?"
        ).run(collection, index.name, index.value, key)
    }
}
