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
        guard try !isKnown(change) else { return .known }
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
        guard counts(change) else {
            try insert(change, batch: insert(batch), state: .held, via: via)
            return .held
        }
        guard change.kind == .owned else {
            return try merge(change) {
                try insert(change, batch: insert(batch), state: .applied, via: via)
            }
        }
        let current = try current(of: change)
        guard change.supersedes(current?.version) else { return .superseded }
        let n = try insert(change, batch: insert(batch), state: .applied, via: via)
        try apply(change, number: n, over: current)
        return .applied
    }

    /// Whether a change about a document counts here: of a kind that this version knows, by a
    /// member that may write this.
    func counts(_ change: Change) -> Bool {
        switch change.kind {
        case .owned: break
        case .fields, .remove:
            if state.membership.role(of: change.author) == .sender { return false }
        case .fact, nil: return false
        }
        return state.counts(author: change.author, counter: change.counter, own: device)
    }

    private func isKnown(_ change: Change) throws -> Bool {
        try database.prepare("SELECT 1 FROM changes WHERE author = ? AND counter = ? AND hash = ?")
            .first(change.author.digest.bytes, change.counter, change.hash.bytes) { _ in true }
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
            change.hash.bytes, change.kind?.rawValue,
            change.author == device ? ownBytes : change.author.digest.bytes, change.counter,
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
    func supersede(_ number: Int64) throws {
        try database.prepare(
            """
            UPDATE changes SET hash = NULL, author = NULL, counter = NULL, batch = NULL,
            via = NULL, body = NULL WHERE n = ?
            """
        ).run(number)
    }

    /// What an owned change stands against: the version that counts, and the row of its change.
    struct Current {
        let version: Change.Version
        let number: Int64?
    }

    /// The version that counts now of the document, or of the receipt, that a change is about.
    func current(of change: Change) throws -> Current? {
        guard change.collection == Receipt.replicatedCollection,
            let receipt = Receipt(cbor: change.body)
        else { return try current(ofDocument: change.document, in: change.collection) }
        return try database.prepare(
            """
            SELECT statement, change, change_n FROM receipts
            WHERE document = ? AND version = ? AND device = ?
            """
        ).first(receipt.document.bytes, receipt.version.bytes, change.author.digest.bytes) {
            Current($0)
        } ?? nil
    }

    func current(ofDocument id: DocumentID, in collection: String) throws -> Current? {
        try database.prepare(
            """
            SELECT version, change, change_n FROM documents
            WHERE collection = ? AND id = ? AND origin IS NOT NULL
            """
        ).first(collection, id.bytes) { Current($0) } ?? nil
    }

    /// Makes an owned change, kept in the row `number`, the current version of its document, in
    /// the place of `old`. `learned` is a number of its own where the document is news without
    /// a new change; `fields` are those of the body where they are known.
    func apply(
        _ change: Change, number: Int64, over old: Current?, learned: Int64? = nil,
        fields known: Fields? = nil
    ) throws {
        if let old = old?.number { try supersede(old) }
        if change.collection == Receipt.replicatedCollection {
            try applyReceipt(change, number)
        } else if let seed = change.seed {
            let fields = try known ?? change.body.map { try Fields(cbor: $0) }
            let isNew = try old == nil && supersedeMerged(change.document, in: change.collection)
            try store(
                DocumentRow(
                    collection: change.collection, id: change.document, n: learned ?? number,
                    owner: .init(
                        origin: change.author, version: change.version, change: change.hash,
                        number: number, seed: seed),
                    live: [], body: change.body?.encoded()),
                fields: fields, isNew: isNew)
            // What a device says of itself: where it is dialled.
            if change.collection == DeviceProfile.collection { touched.insert(.members) }
        }
    }

    private func applyReceipt(_ change: Change, _ number: Int64) throws {
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
            INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (document, version, device) DO UPDATE SET
            state = CASE WHEN state = 0 THEN 0 ELSE excluded.state END,
            reason = CASE WHEN state = 0 THEN NULL ELSE excluded.reason END,
            removed = excluded.removed, statement = excluded.statement, change = excluded.change,
            change_n = excluded.change_n
            """
        ).run(
            receipt.collection, receipt.document.bytes, receipt.version.bytes,
            change.author.digest.bytes, code, reason, receipt.isRemoved, change.version,
            change.hash.bytes, number)
        touched.insert(.receipts)
    }
}

extension Transaction.Current {
    /// A row of a number, a hash and the row of the change.
    init?(_ row: borrowing Row, at first: Int32 = 0) {
        guard let hash = Digest(bytes: row.bytes(first + 1)) else { return nil }
        self.init(
            version: Change.Version(number: row.uint64(first), hash: hash),
            number: row.optionalInt64(first + 2))
    }
}
