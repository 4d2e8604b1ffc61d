import ChuteSystem

/// A row of `documents`.
struct DocumentRow {
    /// What an owned document has besides.
    struct Owner {
        let origin: DeviceID
        let version: UInt64
        let change: Digest
        let number: Int64
        let seed: Digest
    }

    let collection: String
    let id: DocumentID
    /// When the document as it stands was learned.
    let n: Int64
    /// `nil` for a merged document.
    let owner: Owner?
    /// The rows of the changes that count, of a merged document.
    let live: [Int64]
    let body: [UInt8]?
}

/// What is told of one document that a transaction changed: its content before and after, as it
/// is kept; `nil` where it was, or is, not shown.
struct DocumentChange: Hashable, Sendable {
    let id: DocumentID
    /// The device that alone may write it as it is after this.
    let origin: [UInt8]?
    let old: [UInt8]?
    let new: [UInt8]?
}

/// Writing rows of documents, and all that follows from their content.
extension Transaction {
    /// Writes a row, shown from now on; `isNew` where there is none yet.
    func store(_ row: DocumentRow, fields: Fields?, isNew: Bool) throws {
        let follows = follows(row.collection)
        let old = isNew || !follows ? nil : try shown(row.id.bytes, in: row.collection)?.body
        try database.prepare(
            """
            INSERT OR REPLACE INTO documents
            (collection, id, n, hidden, origin, version, change, change_n, seed, live, body)
            VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run(
            row.collection, row.id.bytes, row.n, row.owner?.origin.digest.bytes,
            row.owner?.version, row.owner?.change.bytes, row.owner?.number,
            row.owner?.seed.bytes,
            row.owner == nil ? CBOR.array(row.live.map { .int($0) }).encoded() : nil, row.body)
        if !isNew { try forgetTokens(of: row.id.bytes, in: row.collection) }
        for token in fields?.attachmentTokens ?? [] {
            try database.prepare("INSERT OR IGNORE INTO tokens VALUES (?, ?, ?, ?)").run(
                token.id.digest.bytes, token.id.byteCount, row.collection, row.id.bytes)
        }
        touched.insert(.documents)
        if follows {
            try note(
                row.id, in: row.collection, old: old, new: row.body,
                origin: row.owner?.origin.digest.bytes)
        }
    }

    func forgetTokens(of id: [UInt8], in collection: String) throws {
        try database.prepare("DELETE FROM tokens WHERE collection = ? AND document = ?")
            .run(collection, id)
    }

    /// Takes note of a row as it stands now, which is shown from here on or was up to here.
    func note(_ id: [UInt8], in collection: String, isShown: Bool) throws {
        guard follows(collection), let document = DocumentID(bytes: id) else { return }
        guard let shown = try shown(id, in: collection) else { return }
        try note(
            document, in: collection, old: isShown ? nil : shown.body,
            new: isShown ? shown.body : nil, origin: shown.origin)
    }

    /// Whether somebody follows what becomes of the documents of a collection, or an index does.
    private func follows(_ collection: String) -> Bool {
        followed.contains(collection) || state.indexes[collection] != nil
    }

    private func shown(
        _ id: [UInt8], in collection: String
    ) throws -> (body: [UInt8], origin: [UInt8]?)? {
        try database.prepare(
            """
            SELECT body, origin FROM documents
            WHERE collection = ? AND id = ? AND hidden = 0 AND body IS NOT NULL
            """
        ).first(collection, id) { ($0.bytes(0), $0.optionalBytes(1)) }
    }

    private func note(
        _ id: DocumentID, in collection: String, old: [UInt8]?, new: [UInt8]?, origin: [UInt8]?
    ) throws {
        try reindex(id, in: collection, old: old, new: new)
        guard followed.contains(collection), !resets.contains(collection) else { return }
        // Several changes of one document are one: from what it was before the first of them.
        let first = changed[collection]?[id]
        changed[collection, default: [:]][id] = DocumentChange(
            id: id, origin: origin, old: first.map(\.old) ?? old, new: new)
        changedSize += 128 + (first == nil ? old?.count ?? 0 : 0) + (new?.count ?? 0)
        if changedSize > Self.changedLimit {
            resets.formUnion(changed.keys)
            changed = [:]
            changedSize = 0
        }
    }

    /// More bytes of changed documents than this are not kept for those who follow.
    private static let changedLimit = 16 << 20
}
