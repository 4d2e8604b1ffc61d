import ChuteSystem

/// The result of a query that is kept up to date by what changes. A value without I/O.
struct LiveResult: Sendable {
    /// What becomes of a result by some changes.
    enum Step: Sendable {
        /// Nothing.
        case same
        /// It is this one now.
        case next(LiveResult, ListDifference)
        /// The collection has to be read: the changes alone do not tell.
        case unknown
    }

    let query: Query
    let list: DocumentList

    var documents: Documents { Documents(list, of: query.collection) }

    /// What becomes of this by changes of the collection, at most one of each document.
    func applying(_ changes: [DocumentChange]) throws -> Step {
        var steps: [(old: StoredDocument?, new: StoredDocument?)] = []
        var removals: [Int] = []
        for change in changes {
            let oldKey = try change.old.flatMap { try key(of: $0, change.id) }
            let new = try change.new.flatMap { body in
                try key(of: body, change.id).map {
                    StoredDocument(key: $0, id: change.id, origin: change.origin, body: body)
                }
            }
            if oldKey == nil, new == nil { continue }
            // With a limit, something else may come into the result, or leave it.
            guard query.isWhole else { return .unknown }
            var old: StoredDocument?
            if let oldKey {
                // What it was has to be in here, or this result is not what it should be.
                guard let index = list.index(of: oldKey[...]) else { return .unknown }
                old = list[index]
                if let new, list[index].isSame(as: new) { continue }
                removals.append(index)
            }
            steps.append((old, new))
        }
        if steps.isEmpty { return .same }
        let insertions = steps.compactMap(\.new).sorted { $0.compare($1.key) < 0 }
        let next = LiveResult(
            query: query, list: list.replacing(removals.sorted(), with: insertions))
        return .next(next, ListDifference(from: list, to: next.list, changes: steps))
    }

    /// The key of a document with a content, where it matches.
    private func key(of body: [UInt8], _ id: DocumentID) throws -> [UInt8]? {
        let fields = try Fields(cbor: CBOR.decode(body, limits: .document))
        return query.predicate.matches(fields, id: id) ? query.key(of: fields, id: id) : nil
    }
}

extension Snapshot {
    /// What a query finds, as an observer keeps it.
    func liveResult(of query: Query) throws -> LiveResult {
        LiveResult(
            query: query,
            list: DocumentList(
                try results(of: query) { found in
                    StoredDocument(
                        key: query.key(of: found.fields, id: found.id), id: found.id,
                        origin: found.origin, body: found.body)
                }))
    }
}
