import ChuteKit
import ChuteSystem

/// What a transaction needs of a file whose publishing came to an end.
struct DeliveryEnding: Sendable {
    let record: DeliveryRecord
    let attachment: AttachmentID
    /// By the wall clock: when what was replaced went to `.chute/replaced`.
    let now: FileStatus.Nanoseconds
    /// The piece layer, where it is known; empty otherwise.
    var layer: [UInt8] = []

    /// Writes delivered and the signed receipt. Nothing where another version came meanwhile.
    func write(
        _ outcome: PublishOutcome, root: Int64, collection: String, _ transaction: Transaction
    ) throws {
        guard let old = try transaction.row(DeliveryRecord.self, record.key),
            old.versionID == record.versionID
        else { return }
        var known = old
        let copy: DeliveredCopy
        var isGone = false
        switch outcome {
        case .published(let published):
            copy = published.copy
            isGone = published.isGone
            known.isUsersOwn = false
            try keep(published.replaced, transaction)
        case .adopted(let adopted):
            known.isUsersOwn = known.copy != adopted
            copy = adopted
        case .failed: return
        }
        if let former = old.copy, former.path != copy.path || old.attachment != attachment {
            try transaction.removeLocation(of: former, root: root)
        }
        if let want = known.want { try transaction.finish(want: want) }
        known.want = nil
        known.staged = nil
        known.copy = copy
        known.state = isGone ? .removed : .delivered
        known.reason = ""
        known.detail = ""
        try transaction.put(known, over: old)
        try transaction.remove(IntentRecord.self, known.key)
        if !isGone {
            try transaction.addLocation(
                Location(
                    root: root, path: copy.path, fingerprint: copy.fingerprint.encoded,
                    isOwned: false), of: attachment, layer: layer)
        }
        try transaction.state(
            Receipt(
                collection: collection, document: known.document, version: known.versionID,
                state: .delivered, isRemoved: isGone))
    }

    /// So that it is cleared away some day.
    private func keep(_ replaced: DeliveredCopy?, _ transaction: Transaction) throws {
        guard let replaced else { return }
        try transaction.put(
            ReplacedRecord(
                root: record.root, document: record.document, copy: replaced,
                since: now / 1_000_000_000))
    }
}
