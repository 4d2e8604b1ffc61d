import ChuteSystem

/// Taking in changes, own and from peers.
extension Transaction {
    enum ChangeState: Int { case applied = 0, held = 1 }

    /// What became of a change that came from a peer.
    enum Outcome: Equatable { case applied, known, superseded, held }

    /// Takes in `change`, signed as part of `batch`, from the peer `via`.
    ///
    /// The batch's signature was checked when it was read. Throws `WireError` for a change that
    /// no honest peer sends: not in its batch, not of the batch's author, of another space.
    @discardableResult
    func receive(
        _ change: Change, in batch: SignedBatch, from via: DeviceID
    ) throws -> Outcome {
        guard batch.space == state.space else { throw WireError.wrongSpace }
        guard batch.author == change.author, batch.hashes.contains(change.hash) else {
            throw WireError.badSignature
        }
        guard try !isKnown(change.hash) else { return .known }
        state.clock.observe(change.stamp, now: now)
        if change.author == device { state.counter = max(state.counter, change.counter) }
        if change.kind == .fact {
            if let sharedKey = state.sharedKey,
                case .sharedKey(let mac) = MemberFact(cbor: change.body),
                !sharedKey.isMemberProof(mac, of: change.author)
            {
                throw WireError.badSignature
            }
            try insert(change, batch: insert(batch), state: .applied, via: via)
            membersChanged = true
            return .applied
        }
        if membersChanged { try refreshMembership() }
        let counts = state.counts(
            author: change.author, counter: change.counter, own: device)
        guard change.kind == .owned, counts else {
            try insert(change, batch: insert(batch), state: .held, via: via)
            return .held
        }
        let current = try currentVersion(of: change)
        guard change.supersedes(current) else { return .superseded }
        let n = try insert(change, batch: insert(batch), state: .applied, via: via)
        try apply(change, over: current?.hash, n: n)
        return .applied
    }

    private func isKnown(_ hash: Digest) throws -> Bool {
        try database.prepare("SELECT 1 FROM changes WHERE hash = ?").first(hash.bytes) { _ in true }
            ?? false
    }

    @discardableResult
    func insert(
        _ change: Change, batch: Int64?, state: ChangeState, via: DeviceID?
    ) throws -> Int64 {
        try database.prepare(
            """
            INSERT INTO changes (tag, hash, kind, author, counter, batch, state, via, body)
            VALUES (randomblob(8), ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run(
            change.hash.bytes, change.kind?.rawValue, change.author.digest.bytes, change.counter,
            batch, state.rawValue, via?.digest.bytes, change.bytes)
        touched.insert(.changes)
        return database.lastInsertedRow
    }

    /// The row of a batch, made where there is none yet.
    func insert(_ batch: SignedBatch) throws -> Int64 {
        if let known = batchIDs[batch.signature] { return known }
        let hash = batch.hash.bytes
        let known = try database.prepare("SELECT id FROM batches WHERE hash = ?")
            .first(hash) { $0.int64(0) }
        if known == nil {
            try database.prepare("INSERT INTO batches (hash, header, signature) VALUES (?, ?, ?)")
                .run(hash, batch.header, batch.signature)
        }
        let id = known ?? database.lastInsertedRow
        batchIDs[batch.signature] = id
        return id
    }

    /// Leaves of a superseded change only its number and tag, which a cursor may name.
    func supersede(_ hash: Digest) throws {
        try database.prepare(
            """
            UPDATE changes SET hash = NULL, author = NULL, counter = NULL, batch = NULL,
            via = NULL, body = NULL WHERE hash = ?
            """
        ).run(hash.bytes)
    }

    /// The version that counts now of the document, or of the receipt, that a change is about.
    func currentVersion(of change: Change) throws -> Change.Version? {
        guard change.collection == Receipt.replicatedCollection,
            let receipt = Receipt(cbor: change.body)
        else { return try currentVersion(ofDocument: change.document, in: change.collection) }
        return try database.prepare(
            """
            SELECT statement, change FROM receipts
            WHERE document = ? AND version = ? AND device = ?
            """
        ).first(receipt.document.bytes, receipt.version.bytes, change.author.digest.bytes) {
            Change.Version($0)
        } ?? nil
    }

    func currentVersion(
        ofDocument id: DocumentID, in collection: String
    ) throws -> Change.Version? {
        try database.prepare(
            "SELECT version, change FROM documents WHERE collection = ? AND id = ?"
        ).first(collection, id.bytes) { Change.Version($0) } ?? nil
    }

    /// Makes an owned change the current version of its document, in the place of `old`. `n` is
    /// `nil` for own receipts; `fields` are those of the body where they are known.
    func apply(
        _ change: Change, over old: Digest?, n: Int64?, fields known: Fields? = nil
    ) throws {
        if let old { try supersede(old) }
        if change.collection == Receipt.replicatedCollection {
            try applyReceipt(change)
        } else if let seed = change.seed {
            try applyDocument(
                change, seed: seed, isNew: old == nil, n: n ?? database.lastInsertedRow,
                fields: try known ?? change.body.map { try Fields(cbor: $0) })
        }
    }

    private func applyReceipt(_ change: Change) throws {
        guard let receipt = Receipt(cbor: change.body), change.seed == receipt.seed else { return }
        let code: Int
        var reason: String?
        switch receipt.state {
        case .delivered: code = 0
        case .refused(let why): (code, reason) = (1, why)
        case .notWanted: code = 2
        }
        try database.prepare(
            """
            INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (document, version, device) DO UPDATE SET
            state = CASE WHEN state = 0 THEN 0 ELSE excluded.state END,
            reason = CASE WHEN state = 0 THEN NULL ELSE excluded.reason END,
            removed = excluded.removed, statement = excluded.statement, change = excluded.change
            """
        ).run(
            receipt.collection, receipt.document.bytes, receipt.version.bytes,
            change.author.digest.bytes, code, reason, receipt.isRemoved, change.version,
            change.hash.bytes)
        touched.insert(.receipts)
    }

    private func applyDocument(
        _ change: Change, seed: Digest, isNew: Bool, n: Int64, fields: Fields?
    ) throws {
        try database.prepare(
            """
            INSERT OR REPLACE INTO documents
            (collection, id, origin, version, change, n, hidden, seed, body)
            VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)
            """
        ).run(
            change.collection, change.document.bytes, change.author.digest.bytes, change.version,
            change.hash.bytes, n, seed.bytes, change.body?.encoded())
        if !isNew {
            try database.prepare("DELETE FROM tokens WHERE collection = ? AND document = ?")
                .run(change.collection, change.document.bytes)
        }
        for token in fields?.attachmentTokens ?? [] {
            try database.prepare("INSERT OR IGNORE INTO tokens VALUES (?, ?, ?, ?)").run(
                token.id.digest.bytes, token.id.byteCount, change.collection,
                change.document.bytes)
        }
        touched.insert(.documents)
        // What a device says of itself: where it is dialled.
        if change.collection == DeviceProfile.collection { touched.insert(.members) }
    }
}

extension Change.Version {
    /// A row of a number and a hash.
    fileprivate init?(_ row: borrowing Row) {
        guard let hash = Digest(bytes: row.bytes(1)) else { return nil }
        self.init(number: row.uint64(0), hash: hash)
    }
}
