import ChuteSystem

/// A document that a query found, as it is kept.
struct FoundDocument {
    let id: DocumentID
    let origin: [UInt8]?
    let body: [UInt8]
    let fields: Fields
    /// The value in the index by which it was found.
    let indexed: [UInt8]?
}

/// Finding what matches.
extension Snapshot {
    /// Ends a walk over rows that has found enough.
    private struct Enough: Error {}

    /// What `make` makes of each document that a query finds, in the query's order.
    ///
    /// Keeps no more than the limit and the offset of the query together, where it has a limit.
    func results<Element>(
        of query: Query, make: (FoundDocument) throws -> Element
    ) throws -> [Element] {
        try query.check()
        if query.reach == 0 || query.limit == 0 { return [] }
        let plan = try plan(query)
        var collector = ResultCollector<Element>(reach: query.reach)
        var group: [UInt8]?
        do {
            try forEach(of: query, plan) { found in
                switch plan.order {
                case .whole: try collector.append(make(found))
                case .none:
                    try collector.insert(
                        make(found), key: query.key(of: found.fields, id: found.id))
                case .byIndex:
                    if group != found.indexed { collector.closeGroup() }
                    if collector.isFull { throw Enough() }
                    group = found.indexed
                    // Within one value the index goes by the ids, as the query does.
                    let isExact =
                        query.sorting.count == 1 && group.map(\.count) != FieldIndex.keyLimit
                    if isExact {
                        try collector.append(make(found))
                    } else {
                        try collector.insert(
                            make(found), key: query.key(of: found.fields, id: found.id))
                    }
                }
                if plan.order != .none, collector.isFull { throw Enough() }
            }
        } catch is Enough {}
        collector.closeGroup()
        return Array(collector.results.dropFirst(query.offset))
    }

    func plan(_ query: Query) throws -> QueryPlan {
        QueryPlan(query, indexes: try usableIndexes(of: query.collection))
    }

    /// Calls `body` with each document that matches, in the order of the plan's source.
    func forEach(
        of query: Query, _ plan: QueryPlan, _ body: (FoundDocument) throws -> Void
    ) throws {
        func row(_ row: borrowing Row) throws {
            guard let id = DocumentID(bytes: row.bytes(0)) else {
                throw WireError.malformed("the id of a document")
            }
            let body_ = row.bytes(2)
            let fields = try Fields(cbor: CBOR.decode(body_, limits: .document))
            guard query.predicate.matches(fields, id: id) else { return }
            try body(
                FoundDocument(
                    id: id, origin: row.optionalBytes(1), body: body_, fields: fields,
                    indexed: row.optionalBytes(3)))
        }
        switch plan.source {
        case .ids(let ids): try forEach(ids, in: query.collection, row)
        case .scan(let range):
            try database.prepare(
                """
                SELECT id, origin, body, NULL FROM documents
                WHERE collection = ? AND id >= ? AND id <= ? AND hidden = 0 AND body IS NOT NULL
                ORDER BY id
                """
            ).forEach(query.collection, range.lower, range.upper, body: row)
        case .index(let index, let ranges, let isDescending):
            if isDescending {
                for range in ranges.all.reversed() {
                    try descend(index, range, in: query.collection, row)
                }
            } else {
                for range in ranges.all { try ascend(index, range, in: query.collection, row) }
            }
        }
    }

    private func forEach(
        _ ids: [[UInt8]], in collection: String, _ body: (borrowing Row) throws -> Void
    ) throws {
        let select = try database.prepare(
            """
            SELECT id, origin, body, NULL FROM documents
            WHERE collection = ? AND id = ? AND hidden = 0 AND body IS NOT NULL
            """)
        for id in ids { try select.forEach(collection, id, body: body) }
    }

    private func ascend(
        _ index: Int64, _ range: KeyRange, in collection: String,
        _ body: (borrowing Row) throws -> Void
    ) throws {
        // CROSS keeps the order of the two: the index decides.
        try database.prepare(
            """
            SELECT d.id, d.origin, d.body, i.value FROM field_index i CROSS JOIN documents d
            WHERE i.field = ? AND i.value >= ? AND i.value <= ?
            AND d.collection = ? AND d.id = i.id AND d.hidden = 0 AND d.body IS NOT NULL
            ORDER BY i.value, i.id
            """
        ).forEach(index, range.lower, range.upper, collection, body: body)
    }

    /// From the greatest value to the least, within each by the ids.
    private func descend(
        _ index: Int64, _ range: KeyRange, in collection: String,
        _ body: (borrowing Row) throws -> Void
    ) throws {
        let select = try database.prepare(
            """
            SELECT value FROM field_index WHERE field = ? AND value >= ? AND value < ?
            ORDER BY value DESC LIMIT 1
            """)
        var end = range.upper + [0]  // what comes next after it
        while let value = try select.first(index, range.lower, end, body: { $0.bytes(0) }) {
            try ascend(index, .point(value), in: collection, body)
            end = value
        }
    }
}
