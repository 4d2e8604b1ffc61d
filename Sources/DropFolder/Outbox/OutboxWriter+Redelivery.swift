import ChuteKit
import ChuteSystem

extension OutboxWriter {
    /// Fetches again what was removed or refused, or notes to do so once the outbox is there; the
    /// number of files.
    func redeliver(_ target: BytePath) async throws -> Int {
        let (root, collection, path) = (root, folder.collection, record.path)
        let prefix = folderKey(root)
        let relative = target.relative(to: path) ?? target
        let id = target.string.flatMap { $0.utf8.count >= 8 ? DocumentID(hex: $0) : nil }
        let due = try await chute.reader.read { snapshot in
            try snapshot.rows(DeliveryRecord.self, after: prefix)
                .prefix { $0.key.starts(with: prefix) }
                .filter { row in
                    guard row.state == .removed || row.state == .refused else { return false }
                    if let id, row.document.bytes.starts(with: id.bytes) { return true }
                    return row.copy.map { $0.path.relative(to: relative) != nil } ?? false
                }
        }
        guard !due.isEmpty else { return 0 }
        guard let place = placeInUse() else { return try await postpone(due) }
        let (rules, start) = (rules, place.staging.start)
        let space = try await availableSpace(place, for: Self.sum(due.map(\.attachment)))
        let (count, taken, dropped) = try await chute.store.write { transaction in
            var writing = DeliveryWriting(
                transaction, root: root, start: start, rules: rules, budget: space)
            var count = 0
            for record in due {
                guard var known = try transaction.row(DeliveryRecord.self, record.key),
                    known == record,
                    let document = try transaction.document(record.document, in: collection)
                else { continue }
                // Of a refused version the one before is still there, and is replaced.
                if known.state == .removed { known.copy = nil }
                try writing.fetch(document, known)
                count += 1
            }
            return (count, writing.budget.used, writing.dropped)
        }
        promises.add(taken, to: root)
        try await discard(dropped)
        return count
    }

    /// Lets these wait as what could not be taken: that is tried again by itself.
    private func postpone(_ due: [DeliveryRecord]) async throws -> Int {
        try await chute.store.write { transaction in
            var count = 0
            for record in due {
                guard var waiting = try transaction.row(DeliveryRecord.self, record.key),
                    waiting == record
                else { continue }
                if waiting.state == .removed { waiting.copy = nil }
                waiting.state = .waiting
                waiting.reason = SkipReason.notMounted.rawValue
                waiting.detail = "comes again once the outbox is there"
                try transaction.put(waiting)
                count += 1
            }
            return count
        }
    }
}
