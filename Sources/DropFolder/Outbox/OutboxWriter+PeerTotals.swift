import ChuteKit

/// How much of each device's files is here and on its way: `max_total` of `[[peer]]`.
///
/// Counted from the deliveries' rows, so that a start finds it. A count is kept, since all that
/// adds to it is decided here; what takes from it (the user's removals, refusals, documents taken
/// back) makes it an upper bound, and it is counted anew only where that is too much for a file.
extension OutboxWriter {
    /// What may still come, where about `needed` bytes of some devices are to be asked for; `nil`
    /// where that is not known before. What was taken of it goes to `settle`.
    func peerOffer(for needed: [DeviceID: UInt64]?) async throws -> PeerTotals.Offer {
        let limits = rules.peers.compactMapValues(\.maxTotal)
        guard !limits.isEmpty else { return PeerTotals.Offer(budgets: PeerBudgets(), round: 0) }
        if let known = peerTotals.budgets {
            let fits = needed?.allSatisfy { known.fits($0.value, of: $0.key) } ?? false
            if fits || !peerTotals.isStale {
                return PeerTotals.Offer(budgets: known, round: peerTotals.round)
            }
        }
        let round = peerTotals.round
        let (root, collection) = (root, folder.collection)
        let held = try await chute.store.read { snapshot in
            try snapshot.countedBytes(inRoot: root, of: Set(limits.keys), in: collection)
        }
        let budgets = PeerBudgets(limits: limits, held: held)
        if peerTotals.round == round {
            (peerTotals.budgets, peerTotals.isStale) = (budgets, false)
        }
        return PeerTotals.Offer(budgets: budgets, round: round)
    }

    /// Takes over what a transaction left of an offer. Where another one came in between, nothing
    /// is known any more.
    func settle(_ left: PeerBudgets, of offer: PeerTotals.Offer) {
        peerTotals.budgets = peerTotals.round == offer.round ? left : nil
        peerTotals.round += 1
    }

    /// Bytes of each device's files.
    static func sumByOrigin(_ documents: [OwnedDocument]) -> [DeviceID: UInt64] {
        documents.reduce(into: [:]) { sums, document in
            guard let file = document.fields.flatMap(FileDocument.init) else { return }
            let sum = sums[document.origin, default: 0]
                .addingReportingOverflow(file.attachment.byteCount)
            sums[document.origin] = sum.overflow ? .max : sum.partialValue
        }
    }
}

/// What an outbox knows of its devices' totals.
struct PeerTotals {
    /// `nil` before they are counted.
    var budgets: PeerBudgets?
    /// Something may have gone since.
    var isStale = false
    /// How often something was taken.
    var round = 0

    /// What there was in one round.
    struct Offer: Sendable {
        let budgets: PeerBudgets
        let round: Int
    }
}

extension Snapshot {
    /// What counts of the files of some devices in an outbox, in bytes.
    fileprivate func countedBytes(
        inRoot root: Int64, of devices: Set<DeviceID>, in collection: String
    ) throws -> [DeviceID: UInt64] {
        var sums: [DeviceID: UInt64] = [:]
        var after = DeliveryRecord.start(root: root)
        while true {
            let page = try rows(DeliveryRecord.self, after: after, limit: OutboxWriter.pageCount)
            for record in page where record.root == root && record.countedBytes > 0 {
                guard let origin = try document(record.document, in: collection)?.origin,
                    devices.contains(origin)
                else { continue }
                let sum = sums[origin, default: 0].addingReportingOverflow(record.countedBytes)
                sums[origin] = sum.overflow ? .max : sum.partialValue
            }
            guard let last = page.last, last.root == root, page.count == OutboxWriter.pageCount
            else { return sums }
            after = last.key
        }
    }
}
