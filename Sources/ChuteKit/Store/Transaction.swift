import ChuteSystem

/// A change of a store that happens wholly or not at all. Valid only within the closure that it
/// is handed to; durable when the call that took the closure returns.
public final class Transaction: Snapshot {
    var state: WritingState
    let key: DeviceKey
    /// Milliseconds since 1970 by this device's clock, never negative.
    let now: UInt64
    /// The bytes of this device's id.
    let ownBytes: [UInt8]
    /// What this transaction touched; waiters are told after the commit.
    var touched: Topics = []
    /// Own changes that wait for their signature at the end, by the batch they will be in.
    private var unsigned: [(id: Int64, hashes: [Digest])] = []
    var membersChanged = false
    /// The collections of which somebody wants to know what changes.
    let followed: Set<String>
    /// What changed in those.
    var changed: [String: [DocumentID: DocumentChange]] = [:]
    /// The bytes of documents in there.
    var changedSize = 0
    /// Collections of which more changed than is kept: whoever follows them has to look anew.
    var resets: Set<String> = []
    /// So much changed that whoever follows any has to look anew.
    var isReset = false
    /// What a person should hear of, once it is committed.
    var warnings: [String] = []
    /// The batches that this transaction met, by their signature.
    var batchIDs: [[UInt8]: Int64] = [:]

    init(
        database: Connection, key: DeviceKey, state: WritingState, now: UInt64,
        followed: Set<String> = []
    ) {
        self.state = state
        self.followed = followed
        self.key = key
        self.now = now
        let device = DeviceID(publicKey: key.spki)
        ownBytes = device.digest.bytes
        super.init(database: database, device: device)
    }

    /// What is told once a transaction is committed, and what the next one begins with.
    struct Committed {
        let state: WritingState
        let touched: Topics
        let changed: [String: [DocumentID: DocumentChange]]
        let resets: Set<String>
        let isReset: Bool
        let warnings: [String]
    }

    var committed: Committed {
        Committed(
            state: state, touched: touched, changed: changed, resets: resets,
            isReset: isReset,
            warnings: warnings)
    }

    /// Writes an own document: the first version, or the next one.
    ///
    /// `seed` together with this device and the collection is the document's identity: the same
    /// seed is the same document. Throws `invalid` for a collection that is the engine's own, and
    /// for fields that are no document.
    @discardableResult
    public func put(
        seed: Digest, in collection: String, fields: Fields
    ) throws -> OwnedDocument {
        guard collection.utf8.first != UInt8(ascii: "_"), (1...255).contains(collection.utf8.count)
        else { throw DocumentCollection.invalidName(collection) }
        return try write(seed: seed, in: collection, fields: fields)
    }

    /// Takes an own document back: peers that have not delivered it never will.
    ///
    /// Throws `notFound` where this device has no such document.
    public func retract(_ id: DocumentID, in collection: String) throws {
        guard let document = try document(id, in: collection), document.origin == device else {
            throw ChuteError(.notFound, "this device has no document \(id) in \(collection)")
        }
        guard document.fields != nil else { return }
        try write(seed: document.seed, in: collection, fields: nil)
    }

    /// States what this device did with a version of a document. `delivered` is never taken back.
    public func state(_ receipt: Receipt) throws {
        var receipt = receipt
        let old = try database.prepare(
            """
            SELECT state, reason, removed, statement, change, change_n FROM receipts
            WHERE document = ? AND version = ? AND device = ?
            """
        ).first(receipt.document.bytes, receipt.version.bytes, device.digest.bytes) { row in
            (
                Self.state(code: row.int(0), reason: row.optionalText(1)), row.bool(2),
                row.uint64(3), Current(row, at: 3)
            )
        }
        if let old, old.0 == .delivered, receipt.state != .delivered {
            receipt = Receipt(
                collection: receipt.collection, document: receipt.document,
                version: receipt.version, state: .delivered, isRemoved: receipt.isRemoved)
        }
        if let old, old.0 == receipt.state, old.1 == receipt.isRemoved { return }
        let seed = receipt.seed
        let change = nextChange(
            .owned, in: Receipt.replicatedCollection,
            document: Change.ownedDocument(
                of: device, in: Receipt.replicatedCollection, seed: seed),
            version: (old?.2 ?? 0) + 1, seed: seed, body: receipt.cbor)
        try apply(change, number: insertOwn(change), over: old?.3)
    }

    /// States a fact about members. Whether it counts is for `Membership` to say.
    func state(_ fact: MemberFact) throws {
        let counter = state.counter + 1
        let change = nextChange(
            .fact, in: MemberFact.collection,
            document: fact.document(by: device, counter: counter), body: fact.cbor)
        try insertOwn(change)
        membersChanged = true
        try refreshMembership()
    }

    @discardableResult
    func write(
        seed: Digest, in collection: String, fields: Fields?
    ) throws -> OwnedDocument {
        let id = Change.ownedDocument(of: device, in: collection, seed: seed)
        let current = try current(ofDocument: id, in: collection)
        let change = nextChange(
            .owned, in: collection, document: id, version: (current?.version.number ?? 0) + 1,
            seed: seed, body: fields?.cbor)
        guard change.bytes.count <= Change.sizeLimit else {
            throw ChuteError(.invalid, "a document of over 5 MB: put the bytes into an attachment")
        }
        // What no peer would take is not written either.
        do { _ = try Change(bytes: change.bytes) } catch {
            throw ChuteError(.invalid, "these fields are no document: \(error)", cause: error)
        }
        let n = try insertOwn(change)
        try apply(change, number: n, over: current, fields: fields)
        return OwnedDocument(
            collection: collection, id: id, origin: device, version: change.version,
            versionID: change.hash, learned: n, seed: seed, fields: fields)
    }

    func nextChange(
        _ kind: Change.Kind, in collection: String, document: DocumentID, version: UInt64 = 0,
        seed: Digest? = nil, over overwritten: Stamp? = nil, body: CBOR?
    ) -> Change {
        state.counter += 1
        return Change(
            kind: kind, author: device, counter: state.counter,
            stamp: state.clock.tick(now: now, over: overwritten),
            collection: collection, document: document, version: version, seed: seed, body: body)
    }

    @discardableResult
    func insertOwn(_ change: Change) throws -> Int64 {
        if unsigned.last.map({ $0.hashes.count == SignedBatch.limit }) ?? true {
            // Takes its number now and gets its content when it is signed.
            try database.prepare(
                "INSERT INTO batches (hash, header, signature) VALUES (randomblob(32), x'', x'')"
            ).run()
            unsigned.append((database.lastInsertedRow, []))
        }
        unsigned[unsigned.count - 1].hashes.append(change.hash)
        return try insert(
            change, batch: unsigned[unsigned.count - 1].id, state: .applied, via: nil)
    }

    /// Signs what this transaction wrote and saves the state. The last step before the commit.
    func finish() throws {
        for (id, hashes) in unsigned {
            let batch = SignedBatch(signing: hashes, in: state.space, with: key)
            try database.prepare(
                "UPDATE batches SET hash = ?, header = ?, signature = ? WHERE id = ?"
            ).run(batch.hash.bytes, batch.header, batch.signature, id)
        }
        guard !touched.isEmpty else { return }
        state.commit += 1
        try state.save(in: database)
    }

    private func sign(_ changes: ArraySlice<(number: Int64, hash: Digest)>) throws {
        let batch = SignedBatch(signing: changes.map(\.hash), in: state.space, with: key)
        let id = try insert(batch)
        let update = try database.prepare("UPDATE changes SET batch = ? WHERE n = ?")
        for change in changes { try update.run(id, change.number) }
    }

    /// Makes `space` the space of this device and signs its own changes anew for it.
    ///
    /// What others wrote in the space before is forgotten, and so are the facts about members,
    /// receipts and peers of it; files and own documents stay.
    func adopt(_ space: SpaceID) throws {
        guard space != state.space else { return }
        guard unsigned.isEmpty else {
            throw ChuteError(
                .invalid,
                "a space is entered, founded or left before anything is written: do it in a "
                    + "transaction of its own")
        }
        state.space = space
        let own = device.digest.bytes
        try database.prepare("DELETE FROM receipts WHERE device <> ?").run(own)
        try database.prepare(
            """
            DELETE FROM tokens WHERE (collection, document) IN
            (SELECT collection, id FROM documents WHERE origin <> ?)
            """
        ).run(own)
        try database.prepare("DELETE FROM documents WHERE origin <> ?").run(own)
        try forgetMerged(notBy: own)
        try cleanIndexes()
        try database.prepare(
            """
            UPDATE changes SET hash = NULL, author = NULL, counter = NULL, batch = NULL,
            via = NULL, body = NULL WHERE hash IS NOT NULL AND author <> ?
            """
        ).run(own)
        try database.execute(
            """
            DELETE FROM batches; DELETE FROM presence;
            DELETE FROM ticket_uses; DELETE FROM tickets
            """)
        try restartStreams()
        // The author's facts about the members of another space say nothing in this one.
        try database.prepare(
            """
            UPDATE changes SET hash = NULL, author = NULL, counter = NULL, batch = NULL,
            via = NULL, body = NULL WHERE kind = 3 AND hash IS NOT NULL
            """
        ).run()
        let changes = try database.prepare(
            "SELECT n, hash FROM changes WHERE hash IS NOT NULL ORDER BY n"
        ).all { row -> (number: Int64, hash: Digest) in
            guard let hash = Digest(bytes: row.bytes(1)) else {
                throw WireError.malformed("a row of changes")
            }
            return (row.int64(0), hash)
        }
        for start in stride(from: 0, to: changes.count, by: SignedBatch.limit) {
            try sign(changes[start..<min(start + SignedBatch.limit, changes.count)])
        }
        membersChanged = true
        isReset = true
        touched.insert([.members, .changes, .documents])
        try refreshMembership()
    }
}
