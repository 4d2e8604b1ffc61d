import ChuteKit

/// What other devices have, by their receipts and by what they say when asked.
extension InboxTaker {
    /// Who says now to have what of these, where it matters: what is moved is not lost.
    func keepers(of attachments: [AttachmentID]) async throws -> Keepers? {
        settings.afterIngest == .delete ? try await ask(attachments) : nil
    }

    static func askMembers(of chute: Chute) -> Ask {
        { attachments in
            let members = try await chute.store.read { try $0.recipients().map(\.id) }
            return await chute.keepers(of: attachments, among: Set(members))
        }
    }

    /// What the receipts say, and who is a member.
    static let receipts: Others = { snapshot, keepers in
        let members = try snapshot.recipients()
        let ids = Set(members.map(\.id))
        return { document in
            let attachment = document.fields.flatMap(FileDocument.init)?.attachment
            let keepers = keepers.map { asked in attachment.flatMap { asked[$0] } ?? [] }
            let receipts = try snapshot.receipts(for: document)
            var others = members.map { member in
                TakeDecision.Other(
                    takes: member.profile?.collections.contains(document.collection) ?? true,
                    answer: receipts[member.id].map(TakeDecision.Answer.init),
                    hasItStill: keepers?.contains(member.id) ?? true)
            }
            for (device, receipt) in receipts where !ids.contains(device) {
                guard device != snapshot.device else { continue }
                others.append(.init(isMember: false, answer: TakeDecision.Answer(receipt)))
            }
            return others
        }
    }
}

extension TakeDecision.Answer {
    init(_ receipt: Receipt) {
        self =
            switch receipt.state {
            case .delivered: receipt.isRemoved ? .removed : .delivered
            case .refused: .refused
            case .notWanted: .notWanted
            }
    }
}

extension Snapshot {
    /// What is recorded of a row whose file may be taken away.
    func takeFacts(
        _ row: InboxRecord, _ document: OwnedDocument,
        _ others: (OwnedDocument) throws -> [TakeDecision.Other]
    ) throws -> TakeDecision.Facts {
        TakeDecision.Facts(
            isHere: !row.isTaken && !row.wasSeenAbsent, hasDoubt: row.note != nil,
            isCurrent: isCurrent(document, row.attachment), others: try others(document))
    }

    /// Whether an own document that counts names these bytes.
    func isCurrent(_ document: OwnedDocument, _ attachment: AttachmentID) -> Bool {
        document.origin == device
            && document.fields.flatMap(FileDocument.init)?.attachment == attachment
    }
}
