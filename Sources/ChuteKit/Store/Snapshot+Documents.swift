import ChuteSystem

/// Looking at documents, whoever may write them.
extension Snapshot {
    /// One document; `nil` where there is none, or it was removed or put away.
    public func find(_ id: DocumentID, in collection: String) throws -> Document? {
        try database.prepare(
            """
            SELECT origin, body FROM documents
            WHERE collection = ? AND id = ? AND hidden = 0 AND body IS NOT NULL
            """
        ).first(collection, id.bytes) { row in
            try Document(
                id: id, collection: collection,
                origin: row.optionalBytes(0).flatMap(DeviceID.init(bytes:)),
                fields: row.withBytes(1) {
                    try Fields(cbor: CBOR.decode($0, limits: .document))
                })
        }
    }

    /// How many commits there were that changed anything: what an observer has seen is told by it.
    func commitNumber() throws -> UInt64 {
        let bytes = try database.prepare("SELECT value FROM meta WHERE key = 'commit'")
            .first { $0.bytes(0) }
        return try bytes.flatMap { try CBOR.decode($0).uint } ?? 0
    }

    /// The devices that say, by a receipt, that they have the bytes of an attachment.
    public func holders(of attachment: AttachmentID) throws -> Set<DeviceID> {
        var holders: Set<DeviceID> = []
        try database.prepare(
            """
            SELECT r.device FROM tokens t JOIN receipts r ON r.document = t.document
            WHERE t.digest = ?1 AND t.length = ?2 AND r.state = 0 AND r.removed = 0
            AND (r.version = ?3 OR r.version = (SELECT d.change FROM documents d
                 WHERE d.collection = t.collection AND d.id = t.document))
            """
        ).forEach(
            attachment.digest.bytes, attachment.byteCount, attachment.receiptVersion.bytes
        ) { row in
            if let device = DeviceID(bytes: row.bytes(0)) { holders.insert(device) }
        }
        return holders
    }
}

extension AttachmentID {
    /// What a receipt names as the version of a merged document, for one attachment in it.
    var receiptVersion: Digest {
        Digest(
            hashing: CBOR.array([
                .text("chute attachment 1"), .bytes(digest.bytes), .unsigned(byteCount),
            ]).encoded())
    }
}
