import ChuteKit

/// Files that cannot come now, since no connected device has their bytes.
extension StatusReader {
    func addStalled(
        _ root: Int64, _ settings: FolderSettings, _ members: [Member], _ snapshot: Snapshot,
        _ live: Fields?, _ limit: Int, _ report: inout StatusReport.FolderState
    ) throws {
        for value in live?["stalled"]?.array ?? [] {
            guard let id = value.attachmentToken?.id else { continue }
            for document in try snapshot.documents(
                in: settings.collection, naming: id, limit: 16)
            {
                let key = DeliveryRecord.key(root: root, document.id)
                guard let row = try snapshot.row(DeliveryRecord.self, key),
                    row.state == .fetching,
                    let file = document.fields.flatMap(FileDocument.init)
                else { continue }
                let others = try holders(of: document, members, snapshot).map {
                    HolderWords.Holder(
                        name: $0.profile?.name ?? $0.id.short, isTalkedTo: $0.isTalkedTo,
                        isConnected: $0.presence?.isConnected ?? false)
                }
                report.add(
                    file.joinedPath, SkipReason.noSource.rawValue, HolderWords(others).text, limit,
                    .waiting)
            }
        }
    }

    /// Those that had it when they were last heard of: whoever dropped it, and who
    /// has a receipt.
    private func holders(
        of document: OwnedDocument, _ members: [Member], _ snapshot: Snapshot
    ) throws -> [Member] {
        let receipts = try snapshot.receipts(for: document)
        return members.filter { member in
            member.id == document.origin
                || receipts[member.id].map { $0.state == .delivered && !$0.isRemoved } ?? false
        }
    }
}
