import ChuteSystem

/// What of the stream of changes is for a peer that subscribed to less than everything.
extension Snapshot {
    /// The changes that a peer gets for one in its stream, by their rows: none where it did not
    /// ask for that; itself; or itself and earlier ones, where by it a document is one that the
    /// peer asked for.
    func changes(
        for subscription: Subscription, at n: UInt64, _ body: [UInt8]
    ) throws -> [Int64] {
        let own = Int64(bitPattern: n)
        guard subscription != .everything else { return [own] }
        let change = try Change(bytes: body)
        guard let predicate = subscription.predicate(for: change.collection) else { return [] }
        // What ends a document goes to whoever may have it, as does a kind that is not known here.
        guard !predicate.isAll, change.kind == .owned || change.kind == .fields else {
            return [own]
        }
        guard let document = try find(change.document, in: change.collection) else {
            // Put away here, it is still for whoever may not have it from elsewhere.
            return try change.body == nil || isPutAway(change) ? [own] : []
        }
        let isMet = predicate.matches(document.fields, id: document.id)
        guard change.kind == .fields else { return isMet || change.version > 1 ? [own] : [] }
        let said = try FieldWrites(cbor: change.body)
        guard said.writes.contains(where: { predicate.depends(on: $0.path) }) else {
            return isMet ? [own] : []
        }
        let live = try liveChanges(of: change)
        if isMet { return live }
        // What turns it away is told too, or the peer would keep what is not so any more; but
        // never a part of a document that the peer did not have.
        if !said.isInsert { return [own] }
        return live.contains { $0 < own } ? live : []
    }

    private func isPutAway(_ change: Change) throws -> Bool {
        try database.prepare(
            "SELECT 1 FROM documents WHERE collection = ? AND id = ? AND hidden = 2"
        ).first(change.collection, change.document.bytes) { _ in true } ?? false
    }

    private func liveChanges(of change: Change) throws -> [Int64] {
        let live = try database.prepare(
            "SELECT live FROM documents WHERE collection = ? AND id = ? AND origin IS NULL"
        ).first(change.collection, change.document.bytes) { $0.bytes(0) }
        return try live.map { try CBOR.decode($0).arrayValue?.compactMap(\.int) ?? [] } ?? []
    }
}
