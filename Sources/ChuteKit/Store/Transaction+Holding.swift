/// What this device says of the attachments in merged documents: that it has the bytes.
///
/// A receipt names, as the version, which attachment it is about: a document may have several,
/// and which it has changes field by field. Files of one device have receipts of their own, which
/// only who delivers them may write.
extension Transaction {
    /// Says of every document that names `attachment` that the bytes are here.
    func acknowledge(_ attachment: AttachmentID) throws {
        for (collection, document) in try mergedDocuments(naming: attachment) {
            try state(
                Receipt(
                    collection: collection, document: document,
                    version: attachment.receiptVersion, state: .delivered))
        }
    }

    /// Says of a document that was just written here that the bytes of its attachments are here,
    /// as far as they are.
    func acknowledgeAttachments(
        of fields: Fields?, in document: DocumentID, _ collection: String
    ) throws {
        for token in fields?.attachmentTokens ?? [] where try isHeld(token.id) {
            try state(
                Receipt(
                    collection: collection, document: document,
                    version: token.id.receiptVersion, state: .delivered))
        }
    }

    /// Says that the bytes are not here any more, where it had been said that they are: for all
    /// documents, or for one.
    func takeBackAcknowledgement(
        of attachment: AttachmentID, for document: DocumentID? = nil
    ) throws {
        let said = try database.prepare(
            """
            SELECT collection, document FROM receipts
            WHERE version = ?1 AND device = ?2 AND state = 0 AND removed = 0
            AND (?3 IS NULL OR document = ?3)
            """
        ).all(attachment.receiptVersion.bytes, ownBytes, document?.bytes) {
            ($0.text(0), $0.bytes(1))
        }
        for (collection, bytes) in said {
            guard let document = DocumentID(bytes: bytes) else { continue }
            try state(
                Receipt(
                    collection: collection, document: document,
                    version: attachment.receiptVersion, state: .delivered, isRemoved: true))
        }
    }

    private func mergedDocuments(
        naming attachment: AttachmentID
    ) throws -> [(collection: String, document: DocumentID)] {
        try database.prepare(
            """
            SELECT t.collection, t.document FROM tokens t JOIN documents d
            ON d.collection = t.collection AND d.id = t.document
            WHERE t.digest = ? AND t.length = ? AND d.origin IS NULL AND d.body IS NOT NULL
            AND d.hidden = 0
            """
        ).all(attachment.digest.bytes, attachment.byteCount) { row in
            DocumentID(bytes: row.bytes(1)).map { (row.text(0), $0) }
        }.compactMap(\.self)
    }
}
