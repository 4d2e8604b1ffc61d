/// Reading what a query finds. Anybody may, on any task; nothing that is written waits for it.
///
/// Each throws `invalid` for a query that cannot be, and what reading the store throws.
extension Query {
    /// The documents, as they are in one committed state.
    public func exec() async throws -> [Document] { try await read { try $0.exec(self) } }

    /// How many documents there are.
    public func count() async throws -> Int { try await read { try $0.count(self) } }

    /// The first document.
    public func first() async throws -> Document? { try await limit(1, within: self).exec().first }

    /// The ids of the documents, in the order of the query.
    public func ids() async throws -> [DocumentID] { try await read { try $0.ids(self) } }

    private func limit(_ count: Int, within query: Query) -> Query {
        query.limit(min(count, query.limit ?? count))
    }

    func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) async throws -> Result {
        try await store.reader.forQueries().read(body)
    }
}

/// Queries within a transaction or a look at one state: they see what it sees.
extension Snapshot {
    /// The documents that a query finds.
    public func exec(_ query: Query) throws -> [Document] {
        try results(of: query) { found in
            Document(
                id: found.id, collection: query.collection,
                origin: found.origin.flatMap { DeviceID(bytes: $0) }, fields: found.fields)
        }
    }

    /// How many documents a query finds.
    public func count(_ query: Query) throws -> Int {
        try query.check()
        let all =
            query.predicate.isAll
            ? try count(in: query.collection)
            : try count(matching: query)
        let rest = max(0, all - query.offset)
        return query.limit.map { min($0, rest) } ?? rest
    }

    /// The ids of the documents that a query finds, in its order.
    public func ids(_ query: Query) throws -> [DocumentID] {
        try results(of: query) { $0.id }
    }

    private func count(in collection: String) throws -> Int {
        try database.prepare(
            """
            SELECT count(*) FROM documents
            WHERE collection = ? AND hidden = 0 AND body IS NOT NULL
            """
        ).first(collection) { $0.int(0) } ?? 0
    }

    private func count(matching query: Query) throws -> Int {
        var count = 0
        let unordered = Query(
            store: query.store, collection: query.collection, predicate: query.predicate)
        let plan = try plan(unordered)
        try forEach(of: unordered, plan) { _ in count += 1 }
        return count
    }
}

/// The queries of a collection.
extension DocumentCollection {
    /// All documents.
    public func findAll() -> Query { find(.all) }

    /// The documents that match.
    public func find(_ predicate: Predicate) -> Query {
        Query(store: store, collection: name, predicate: predicate)
    }
}
