import ChuteKit
import ChuteSystem

/// Clearing away what later versions replaced.
extension OutboxWriter {
    /// Looks through `.chute/replaced` for what may go.
    ///
    /// Only what a row names is touched. The file goes before its row: a row without a file is
    /// noticed the next time, a file without a row never.
    func sweepReplaced(now: FileStatus.Nanoseconds = FileStatus.now) async throws {
        guard let place = placeInUse() else { return }
        let (root, prefix) = (root, folderKey(root))
        let rows = try await chute.store.read { snapshot in
            try snapshot.rows(ReplacedRecord.self, after: prefix).filter { $0.root == root }
        }
        let seconds = now / 1_000_000_000
        for row in rows {
            // Whether it is elsewhere is asked only where that decides.
            var decision = ReplacedDecision.of(since: row.since, now: seconds, isElsewhere: true)
            if decision == .remove, try await !isElsewhere(row, place) { decision = .keep }
            switch decision {
            case .keep: break
            case .countAnew:
                var changed = row
                changed.since = seconds
                let counted = changed
                try await chute.store.write { try $0.put(counted) }
            case .remove:
                let outbox = place.publisher.root
                let status = try outbox.folder.status(of: row.copy.path)
                if let status, CopyFingerprint(status).isSameButChanged(row.copy.fingerprint) {
                    let replaced = try outbox.folder.folder(at: row.copy.path.parent)
                    try replaced.remove(row.copy.path.lastComponent)
                }
                try await chute.store.write { try $0.remove(ReplacedRecord.self, row.key) }
            }
        }
    }

    /// Whether another copy of the file is known: ours under its name as it was delivered, or that
    /// of a member who has the version that counts, and has not said that it is gone.
    private func isElsewhere(_ row: ReplacedRecord, _ place: Place) async throws -> Bool {
        let (root, collection, own) = (root, folder.collection, chute.device)
        let (record, isAtMember) = try await chute.store.read { snapshot in
            let key = DeliveryRecord.key(root: root, row.document)
            let members = Set(try snapshot.members().map(\.id)).subtracting([own])
            let receipts = try snapshot.document(row.document, in: collection).map {
                try snapshot.receipts(for: $0)
            }
            return (
                try snapshot.row(DeliveryRecord.self, key),
                receipts?.contains { device, receipt in
                    members.contains(device) && receipt.state == .delivered && !receipt.isRemoved
                } ?? false
            )
        }
        if isAtMember { return true }
        guard let record, record.state == .delivered, let copy = record.copy,
            let status = try place.publisher.root.folder.status(of: copy.path)
        else { return false }
        return CopyFingerprint(status).isSameButChanged(copy.fingerprint)
    }
}
