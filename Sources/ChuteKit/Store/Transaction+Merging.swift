import ChuteSystem

/// Documents that anybody may write: how changes about them come together.
extension Transaction {
    /// What is kept of a merged document, and the changes that count.
    struct Merged {
        let live: [MergedDocument.Entry]
        let isShown: Bool
    }

    /// Takes in a change that is not kept yet; `insert` keeps it, and is called only where it
    /// counts.
    func merge(_ change: Change, insert: () throws -> Int64) throws -> Outcome {
        guard try current(ofDocument: change.document, in: change.collection) == nil else {
            return .superseded  // the document of one device, which alone may write it
        }
        let known = try merged(change.document, in: change.collection)
        let candidate = try MergedDocument.Entry(change, number: 0)
        let trial = MergedDocument(merging: (known?.live ?? []) + [candidate])
        guard trial.live.contains(0) else { return .superseded }
        let n = try insert()
        try keep(
            trial.kept(in: n), body: trial.body, change.document, in: change.collection,
            known: known, n: n)
        return .applied
    }

    /// Takes in a change that was held until now.
    func mergeHeld(_ change: Change, number: Int64) throws {
        let outcome = try merge(change) {
            try release(number)
            return number
        }
        if outcome == .superseded { try supersede(number) }
    }

    /// Writes a document as `document` has it, of which `body` is the content, and lets go of the
    /// changes that count no longer.
    func keep(
        _ document: MergedDocument, body: [UInt8]?, _ id: DocumentID, in collection: String,
        known: Merged?, n: Int64
    ) throws {
        let live = Set(document.live)
        for entry in known?.live ?? [] where !live.contains(entry.number) {
            try supersede(entry.number)
        }
        try store(
            DocumentRow(
                collection: collection, id: id, n: n, owner: nil, live: document.live, body: body),
            fields: document.fields, isNew: known == nil)
    }

    /// The changes that count of a merged document; `nil` where none is known.
    func merged(_ id: DocumentID, in collection: String) throws -> Merged? {
        let row = try database.prepare(
            """
            SELECT live, hidden FROM documents
            WHERE collection = ? AND id = ? AND origin IS NULL
            """
        ).first(collection, id.bytes) { ($0.bytes(0), $0.int(1) == 0) }
        guard let row else { return nil }
        return Merged(live: try Self.numbers(row.0).map { try entry($0) }, isShown: row.1)
    }

    private static func numbers(_ bytes: [UInt8]) throws -> [Int64] {
        try (CBOR.decode(bytes).arrayValue ?? []).compactMap(\.int)
    }

    private func entry(_ number: Int64) throws -> MergedDocument.Entry {
        let bytes = try database.prepare("SELECT body FROM changes WHERE n = ?")
            .first(number) { $0.bytes(0) }
        guard let bytes else { throw WireError.malformed("a document without its change") }
        return try MergedDocument.Entry(Change(bytes: bytes), number: number)
    }

    /// Lets go of what anybody wrote about a document that one device alone may write; whether
    /// there is no row of it.
    func supersedeMerged(_ id: DocumentID, in collection: String) throws -> Bool {
        guard let known = try merged(id, in: collection) else { return true }
        for entry in known.live { try supersede(entry.number) }
        return false
    }

    /// Holds back what an author wrote that does not count any more.
    ///
    /// What it had overwritten is gone here, but may be left elsewhere: the streams of all
    /// peers start anew.
    func holdMerged(of author: DeviceID) throws {
        let rows = try database.prepare(
            """
            SELECT n, body FROM changes
            WHERE author = ? AND state = 0 AND kind IN (0, 1) AND hash IS NOT NULL
            """
        ).all(author.digest.bytes) { ($0.int64(0), $0.bytes(1)) }
        var hasHeld = false
        for (number, bytes) in rows {
            let change = try Change(bytes: bytes)
            guard !counts(change) else { continue }
            hasHeld = true
            try database.prepare("UPDATE changes SET state = 1 WHERE n = ?").run(number)
            try remerge(change.document, in: change.collection) { $0 != number }
        }
        if hasHeld { try restartStreams() }
    }

    /// Writes a document anew from those of its changes that are still kept.
    private func remerge(
        _ id: DocumentID, in collection: String, keeping isKept: (Int64) -> Bool
    ) throws {
        guard let known = try merged(id, in: collection) else { return }
        let rest = known.live.filter { isKept($0.number) }
        let document = MergedDocument(merging: rest)
        try keep(
            document, body: document.body, id, in: collection,
            known: Merged(live: rest, isShown: known.isShown), n: newNumber())
    }

    /// Forgets what others than `own` wrote of merged documents; their changes are gone already.
    func forgetMerged(notBy own: [UInt8]) throws {
        let rows = try database.prepare(
            "SELECT collection, id, live FROM documents WHERE origin IS NULL"
        ).all { ($0.text(0), $0.bytes(1), $0.bytes(2)) }
        let select = try database.prepare(
            "SELECT 1 FROM changes WHERE n = ? AND hash IS NOT NULL AND author = ?")
        for (collection, bytes, live) in rows {
            guard let id = DocumentID(bytes: bytes) else { continue }
            let numbers = try Self.numbers(live)
            let own = try numbers.filter { try select.first($0, own) { _ in true } ?? false }
            guard own.count < numbers.count else { continue }
            let document = MergedDocument(merging: try own.map { try entry($0) })
            try keep(
                document, body: document.body, id, in: collection,
                known: Merged(live: [], isShown: true),
                n: own.last ?? newNumber())
            if own.isEmpty {
                try database.prepare("DELETE FROM documents WHERE collection = ? AND id = ?")
                    .run(collection, bytes)
            }
        }
    }
}
