import ChuteKit

/// What receipts say of documents of this device.
extension Snapshot {
    /// The members that take a collection, as far as they said, and are not absent. `now` in
    /// seconds since 1970.
    func takers(
        of collection: String, among members: [DeviceID], now: UInt64
    ) throws -> [DeviceID] {
        try members.filter { member in
            try profile(of: member)?.collections.contains(collection) ?? true
                && !Absence.isAbsent(lastHeard: lastHeard(of: member), now: now)
        }
    }

    /// Whether a copy of the document is known to be somewhere else still: one of `members` had
    /// it, and its user did not remove it since. What its origin took back needs none.
    func isKept(
        _ document: DocumentID, in collection: String, by members: [DeviceID]
    ) throws -> Bool {
        guard let document = try self.document(document, in: collection),
            document.fields != nil
        else { return true }
        let receipts = try receipts(for: document)
        return members.contains { member in
            receipts[member].map { $0.state == .delivered && !$0.isRemoved } ?? false
        }
    }

    /// What a document that counts names; `nil` where its origin took it back.
    func attachment(
        of document: DocumentID, in collection: String
    ) throws -> AttachmentID? {
        try self.document(document, in: collection)?.fields.flatMap(FileDocument.init)?.attachment
    }

    /// Whether any other device has the document.
    func isDelivered(_ document: DocumentID, in collection: String) throws -> Bool {
        guard let document = try self.document(document, in: collection) else { return true }
        return try receipts(for: document).contains {
            $0.key != device && $0.value.state == .delivered
        }
    }

    /// Whether every one of `members`, at least one, has a receipt for a document of this
    /// device, or the document is taken back.
    func isAnswered(
        _ document: DocumentID, in collection: String, by members: [DeviceID]
    ) throws -> Bool {
        guard let document = try self.document(document, in: collection) else { return true }
        guard document.fields != nil else { return true }
        guard !members.isEmpty else { return false }
        let receipts = try receipts(for: document)
        return members.allSatisfy { receipts[$0] != nil }
            && receipts.values.contains { $0.state == .delivered }
    }
}
