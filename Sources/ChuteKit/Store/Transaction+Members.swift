import ChuteSystem

/// Who belongs to the space, and what follows for what is held or hidden.
extension Snapshot {
    /// The standing of every device that the facts name, worked out from the database alone.
    func memberStandings() throws -> [DeviceID: Membership.Standing] {
        let space = try database.prepare("SELECT value FROM meta WHERE key = 'space'")
            .first { SpaceID(bytes: $0.bytes(0)) }
        let stored = try database.prepare("SELECT value FROM meta WHERE key = 'shared_members'")
            .first { $0.bytes(0) }
        guard stored == nil else {
            let statements = try Transaction.statements(in: database, ownKey: [])
            return Membership(statements: statements) { _, _ in true }.standings
        }
        let statements = try Transaction.statements(in: database, ownKey: [])
        return Membership(space: (space ?? nil) ?? .alone, statements: statements).standings
    }

    /// The owners whose removal of this device the facts here hold; `nil` while none is in force.
    ///
    /// Whoever was away when it happened may never get the facts: nobody talks to it any more.
    public func removers() throws -> [DeviceID]? {
        guard let standing = try memberStandings()[device], !standing.isMember else { return nil }
        let owners = try Transaction.statements(in: database, ownKey: []).compactMap { statement in
            if case .removal(device, _) = statement.fact { statement.author } else { nil }
        }
        return Set(owners).sorted()
    }

    /// The space that this device is in; `nil` for none.
    public func space() throws -> SpaceID? {
        let space =
            try database.prepare("SELECT value FROM meta WHERE key = 'space'")
            .first { SpaceID(bytes: $0.bytes(0)) } ?? nil
        return space == .alone ? nil : space
    }

    /// Whether the space has a shared key.
    public func hasSharedKey() throws -> Bool {
        try database.prepare("SELECT 1 FROM meta WHERE key = 'shared_members'")
            .first { _ in true } ?? false
    }
}

extension Transaction {
    /// Works the members out anew, releases what was held for its author, hides what is beyond
    /// a cut-off.
    func refreshMembership() throws {
        membersChanged = false
        let old = state.membership
        state.membership = try Self.membership(of: state, device: key, in: database)
        guard state.membership != old else { return }
        touched.insert(.members)
        let known = Set(old.standings.keys).union(state.membership.standings.keys)
        for author in known where old.standings[author] != state.membership.standings[author] {
            if author == device { continue }
            try hideBeyondCutoff(of: author)
            try holdMerged(of: author)
            try releaseHeld(of: author)
        }
    }

    /// The members that the facts in `database` give. Throws for facts that do not read.
    static func membership(
        of state: WritingState, device key: DeviceKey, in database: Connection
    ) throws -> Membership {
        let statements = try statements(in: database, ownKey: key.spki)
        if let sharedKey = state.sharedKey {
            return Membership(statements: statements) { sharedKey.isMemberProof($1, of: $0) }
        }
        return Membership(space: state.space, statements: statements)
    }

    /// All facts about members, with the key that signed each. `ownKey` is for those that this
    /// transaction wrote: they are signed at its end.
    static func statements(
        in database: Connection, ownKey: [UInt8]
    ) throws -> Set<Membership.Statement> {
        var keys: [Int64: [UInt8]] = [:]
        var statements: Set<Membership.Statement> = []
        let rows = try database.prepare(
            "SELECT body, batch FROM changes WHERE kind = 3 AND hash IS NOT NULL"
        ).all { ($0.bytes(0), $0.optionalInt64(1)) }
        for (body, batch) in rows {
            let change = try Change(bytes: body)
            guard let fact = MemberFact(cbor: change.body) else { continue }
            let publicKey: [UInt8]
            if let batch {
                publicKey =
                    try keys[batch] ?? self.publicKey(ofBatch: batch, in: database) ?? ownKey
                keys[batch] = publicKey
            } else {
                publicKey = ownKey
            }
            statements.insert(
                .init(
                    hash: change.hash, author: change.author, publicKey: publicKey,
                    counter: change.counter, fact: fact))
        }
        return statements
    }

    /// `nil` for a batch that this transaction writes: it is signed at the end.
    private static func publicKey(
        ofBatch batch: Int64, in database: Connection
    ) throws -> [UInt8]? {
        let row = try database.prepare("SELECT header, signature FROM batches WHERE id = ?")
            .first(batch) { ($0.bytes(0), $0.bytes(1)) }
        guard let row else { throw WireError.malformed("a change without its batch") }
        if row.0.isEmpty { return nil }
        return try SignedBatch(header: row.0, signature: row.1).publicKey
    }

    private func hideBeyondCutoff(of author: DeviceID) throws {
        // A version tells its change's hash, and the change its counter.
        let rows = try database.prepare(
            """
            SELECT d.collection, d.id, d.hidden, c.counter FROM documents d
            JOIN changes c ON c.n = d.change_n WHERE d.origin = ?
            """
        ).all(author.digest.bytes) { ($0.text(0), $0.bytes(1), $0.bool(2), $0.uint64(3)) }
        for (collection, id, isHidden, counter) in rows {
            let hides = !state.counts(author: author, counter: counter, own: device)
            guard hides != isHidden else { continue }
            if hides {
                try note(id, in: collection, isShown: false)
                try database.prepare(
                    "UPDATE documents SET hidden = 1 WHERE collection = ? AND id = ?"
                ).run(collection, id)
            } else {
                // Shown again it is news: whoever reads along by number sees it.
                try database.prepare(
                    "UPDATE documents SET hidden = 0, n = ? WHERE collection = ? AND id = ?"
                ).run(try newNumber(), collection, id)
                try note(id, in: collection, isShown: true)
            }
            touched.insert(.documents)
        }
    }

    private func releaseHeld(of author: DeviceID) throws {
        let rows = try database.prepare(
            """
            SELECT n, body FROM changes
            WHERE author = ? AND state = 1 AND hash IS NOT NULL ORDER BY counter
            """
        ).all(author.digest.bytes) { ($0.int64(0), $0.bytes(1)) }
        for (n, body) in rows {
            let change = try Change(bytes: body)
            guard counts(change) else { continue }
            if change.isMerged {
                try mergeHeld(change, number: n)
                continue
            }
            let current = try current(of: change)
            guard change.supersedes(current?.version) else {
                try supersede(n)
                continue
            }
            try release(n)
            try apply(change, number: n, over: current, learned: newNumber())
        }
    }

    func release(_ number: Int64) throws {
        try database.prepare("UPDATE changes SET state = 0 WHERE n = ?").run(number)
    }

    /// A number of its own for a document that is news without a new change: a reader that
    /// comes by number and page by page would miss those that share one.
    func newNumber() throws -> Int64 {
        try database.prepare("INSERT INTO changes (tag) VALUES (randomblob(8))").run()
        return database.lastInsertedRow
    }
}
