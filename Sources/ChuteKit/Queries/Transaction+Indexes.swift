import ChuteSystem

/// An index that was declared for a collection.
public struct DeclaredIndex: Hashable, Sendable {
    /// The field whose values it has.
    public let path: FieldPath
    /// Whether all documents are in it: until then queries do without it.
    public let isComplete: Bool
}

extension Snapshot {
    /// The indexes that were declared for a collection.
    public func indexes(of collection: String) throws -> [DeclaredIndex] {
        try database.prepare(
            "SELECT path, progress FROM field_indexes WHERE collection = ? ORDER BY number"
        ).all(collection) {
            DeclaredIndex(path: try Self.path($0.bytes(0)), isComplete: $0.isNull(1))
        }
    }

    /// The indexes that know all documents of a collection.
    func usableIndexes(of collection: String) throws -> [FieldIndex] {
        try database.prepare(
            """
            SELECT number, path FROM field_indexes WHERE collection = ? AND progress IS NULL
            ORDER BY number
            """
        ).all(collection) { FieldIndex(number: $0.int64(0), path: try Self.path($0.bytes(1))) }
    }

    private static func path(_ bytes: [UInt8]) throws -> FieldPath {
        try FieldPath(cbor: CBOR.decode(bytes))
    }
}

extension FieldIndex {
    /// The indexes that have to be kept up, by their collections.
    static func all(in database: Connection) throws -> [String: [FieldIndex]] {
        var indexes: [String: [FieldIndex]] = [:]
        try database.prepare(
            """
            SELECT collection, number, path FROM field_indexes WHERE collection IS NOT NULL
            ORDER BY number
            """
        ).forEach { row in
            indexes[row.text(0), default: []].append(
                FieldIndex(
                    number: row.int64(1), path: try FieldPath(cbor: CBOR.decode(row.bytes(2)))))
        }
        return indexes
    }
}

/// Declaring indexes, and keeping them up with every change of a document.
extension Transaction {
    /// Declares an index on a field; nothing happens where there is one.
    func declareIndex(on path: FieldPath, in collection: String) throws {
        let isThere = state.indexes[collection]?.contains { $0.path == path } ?? false
        if isThere { return }
        let known = state.indexes[collection]?.count ?? 0
        guard known < FieldIndex.countLimit else {
            throw ChuteError(
                .invalid,
                "\(collection) has \(known) indexes, the most that a collection may have: drop one")
        }
        try database.prepare(
            "INSERT INTO field_indexes (collection, path, progress) VALUES (?, ?, x'')"
        ).run(collection, path.cbor.encoded())
        state.indexes[collection, default: []].append(
            FieldIndex(number: database.lastInsertedRow, path: path))
    }

    /// Drops the index on a field; `false` where there is none.
    func dropIndex(on path: FieldPath, in collection: String) throws -> Bool {
        guard let index = state.indexes[collection]?.first(where: { $0.path == path }) else {
            return false
        }
        state.indexes[collection]?.removeAll { $0 == index }
        if state.indexes[collection]?.isEmpty ?? false { state.indexes[collection] = nil }
        try database.prepare(
            "UPDATE field_indexes SET collection = NULL, progress = x'' WHERE number = ?"
        ).run(index.number)
        return true
    }

    /// Keeps the indexes of a collection up with one document, of which `old` was shown and
    /// `new` is.
    func reindex(
        _ id: DocumentID, in collection: String, old: [UInt8]?, new: [UInt8]?
    ) throws {
        guard let indexes = state.indexes[collection] else { return }
        let before = try old.map { try Fields(cbor: CBOR.decode($0, limits: .document)) }
        let after = try new.map { try Fields(cbor: CBOR.decode($0, limits: .document)) }
        for index in indexes {
            let left = before.map { index.key(of: $0) }
            let right = after.map { index.key(of: $0) }
            if left == right { continue }
            if let left {
                try database.prepare(
                    "DELETE FROM field_index WHERE field = ? AND value = ? AND id = ?"
                ).run(index.number, left, id.bytes)
            }
            if let right { try insert(right, id, into: index) }
        }
    }

    /// Leaves nothing in the indexes of documents that are gone without having been noted.
    func cleanIndexes() throws {
        try database.execute(
            """
            DELETE FROM field_index WHERE NOT EXISTS
            (SELECT 1 FROM field_indexes f JOIN documents d ON d.collection = f.collection
             WHERE f.number = field_index.field AND d.id = field_index.id AND d.hidden = 0
             AND d.body IS NOT NULL)
            """)
    }

    private func insert(_ key: [UInt8], _ id: DocumentID, into index: FieldIndex) throws {
        try database.prepare("INSERT OR IGNORE INTO field_index VALUES (?, ?, ?)")
            .run(index.number, key, id.bytes)
    }

    /// Does some milliseconds of what indexes still need: documents that one does not know, rows
    /// of one that was dropped; `false` where there is nothing left to do.
    func continueIndexing() throws -> Bool {
        let open = try database.prepare(
            """
            SELECT number, collection, path, progress FROM field_indexes
            WHERE progress IS NOT NULL ORDER BY number LIMIT 1
            """
        ).first { ($0.int64(0), $0.optionalText(1), $0.bytes(2), $0.bytes(3)) }
        guard let (number, collection, path, progress) = open else { return false }
        guard let collection else {
            try removeRows(of: number)
            return true
        }
        let index = FieldIndex(number: number, path: try FieldPath(cbor: CBOR.decode(path)))
        let last = try take(collection, after: progress, into: index)
        try database.prepare("UPDATE field_indexes SET progress = ? WHERE number = ?")
            .run(last, number)
        return true
    }

    /// Takes the next documents into an index; the last id, `nil` where there are no more.
    private func take(
        _ collection: String, after progress: [UInt8], into index: FieldIndex
    ) throws -> [UInt8]? {
        struct Enough: Error {}
        var last: [UInt8]?
        var count = 0
        var size = 0
        do {
            try database.prepare(
                """
                SELECT id, body FROM documents
                WHERE collection = ? AND id > ? AND hidden = 0 AND body IS NOT NULL ORDER BY id
                """
            ).forEach(collection, progress) { row in
                guard count < FieldIndex.chunkCount, size < FieldIndex.chunkSize else {
                    throw Enough()
                }
                let bytes = row.bytes(0)
                let body = row.bytes(1)
                guard let id = DocumentID(bytes: bytes) else {
                    throw WireError.malformed("the id of a document")
                }
                let fields = try Fields(cbor: CBOR.decode(body, limits: .document))
                try insert(index.key(of: fields), id, into: index)
                count += 1
                size += body.count
                last = bytes
            }
        } catch is Enough { return last }
        return nil
    }

    private func removeRows(of number: Int64) throws {
        try database.prepare(
            """
            DELETE FROM field_index WHERE (field, value, id) IN
            (SELECT field, value, id FROM field_index WHERE field = ? LIMIT ?)
            """
        ).run(number, FieldIndex.chunkCount)
        if database.changes < FieldIndex.chunkCount {
            try database.prepare("DELETE FROM field_indexes WHERE number = ?").run(number)
        }
    }
}

extension FieldIndex {
    /// How many indexes a collection may have: each is written with every document.
    static let countLimit = 32
    /// How many documents are taken into a new index in one transaction.
    fileprivate static let chunkCount = 2000
    /// After how many bytes of documents such a transaction ends.
    fileprivate static let chunkSize = 8 << 20
}
