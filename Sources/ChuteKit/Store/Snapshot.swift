import ChuteSystem

/// One consistent look at a store. Valid only within the closure that it is handed to.
public class Snapshot {
    let database: Connection
    /// The device that this store belongs to.
    public let device: DeviceID

    init(database: Connection, device: DeviceID) {
        self.database = database
        self.device = device
    }

    private func document(_ row: borrowing Row) throws -> OwnedDocument {
        guard let id = DocumentID(bytes: row.bytes(1)), let origin = DeviceID(bytes: row.bytes(2)),
            let change = Digest(bytes: row.bytes(4)), let seed = Digest(bytes: row.bytes(6))
        else { throw WireError.malformed("a row of documents") }
        let fields = try row.optionalBytes(7).map { try Fields(cbor: CBOR.decode($0)) }
        return OwnedDocument(
            collection: row.text(0), id: id, origin: origin, version: row.uint64(3),
            versionID: change, learned: row.int64(5), seed: seed, fields: fields)
    }

    /// One document, also one that was taken back; `nil` where none is known or it is hidden.
    public func document(_ id: DocumentID, in collection: String) throws -> OwnedDocument? {
        try database.prepare(
            """
            SELECT collection, id, origin, version, change, n, seed, body FROM documents
            WHERE collection = ? AND id = ? AND hidden = 0 AND origin IS NOT NULL
            """
        ).first(collection, id.bytes) { try document($0) }
    }

    /// The documents learned after `learned`, in that order, at most `limit`.
    public func documents(
        in collection: String, learnedAfter learned: Int64, limit: Int
    ) throws -> [OwnedDocument] {
        try database.prepare(
            """
            SELECT collection, id, origin, version, change, n, seed, body FROM documents
            WHERE collection = ? AND n > ? AND hidden = 0 AND origin IS NOT NULL
            ORDER BY n LIMIT ?
            """
        ).all(collection, learned, limit) { try document($0) }
    }

    /// The documents whose id begins with `prefix` (all for an empty one), at most `limit`.
    public func documents(
        in collection: String, idPrefix prefix: [UInt8], limit: Int
    ) throws -> [OwnedDocument] {
        try database.prepare(
            """
            SELECT collection, id, origin, version, change, n, seed, body FROM documents
            WHERE collection = ?1 AND hidden = 0 AND origin IS NOT NULL AND id >= ?2
            AND substr(id, 1, length(?2)) = ?2 ORDER BY id LIMIT ?3
            """
        ).all(collection, prefix, limit) { try document($0) }
    }

    /// The ids of this device's own documents that name `attachment`.
    public func ownDocuments(
        in collection: String, naming attachment: AttachmentID
    ) throws -> [OwnedDocument] {
        try database.prepare(
            """
            SELECT d.collection, d.id, d.origin, d.version, d.change, d.n, d.seed, d.body
            FROM tokens t JOIN documents d ON d.collection = t.collection AND d.id = t.document
            WHERE t.digest = ? AND t.length = ? AND t.collection = ? AND d.origin = ?
            """
        ).all(
            attachment.digest.bytes, attachment.byteCount, collection, device.digest.bytes
        ) { try document($0) }
    }

    /// How many live documents of a collection this device wrote.
    public func ownDocumentCount(in collection: String) throws -> Int {
        try database.prepare(
            """
            SELECT count(*) FROM documents
            WHERE collection = ? AND origin = ? AND body IS NOT NULL AND hidden = 0
            """
        ).first(collection, device.digest.bytes) { $0.int(0) } ?? 0
    }

    /// The receipts for one version of a document.
    public func receipts(for document: OwnedDocument) throws -> [DeviceID: Receipt] {
        var found: [DeviceID: Receipt] = [:]
        try database.prepare(
            """
            SELECT device, state, reason, removed FROM receipts WHERE document = ? AND version = ?
            """
        ).forEach(document.id.bytes, document.versionID.bytes) { row in
            guard let device = DeviceID(bytes: row.bytes(0)) else { return }
            found[device] = Receipt(
                collection: document.collection, document: document.id,
                version: document.versionID,
                state: Self.state(code: row.int(1), reason: row.optionalText(2)),
                isRemoved: row.bool(3))
        }
        return found
    }

    static func state(code: Int, reason: String?) -> Receipt.State {
        switch code {
        case 0: .delivered
        case 1: .refused(reason: reason ?? "unknown")
        default: .notWanted
        }
    }

    /// What one peer did with this device's own live documents of a collection.
    public struct Tally: Hashable, Sendable {
        /// Documents delivered there.
        public var delivered = 0
        /// Documents that it refused.
        public var refused = 0
        /// Documents of a collection that it does not take.
        public var notWanted = 0
        /// Of the delivered: removed by its user since.
        public var removed = 0
        /// Bytes of the documents with any receipt.
        public var bytesAnswered: UInt64 = 0

        /// Nothing yet.
        public init() {}
    }

    /// The receipts for this device's own live documents, counted by device.
    public func tallies(of collection: String) throws -> [DeviceID: Tally] {
        var tallies: [DeviceID: Tally] = [:]
        try database.prepare(
            """
            SELECT r.device, r.state, r.removed, count(*),
                sum((SELECT coalesce(sum(t.length), 0) FROM tokens t
                     WHERE t.collection = d.collection AND t.document = d.id))
            FROM documents d JOIN receipts r ON r.document = d.id AND r.version = d.change
            WHERE d.collection = ? AND d.origin = ? AND d.body IS NOT NULL AND d.hidden = 0
            GROUP BY r.device, r.state, r.removed
            """
        ).forEach(collection, device.digest.bytes) { row in
            guard let peer = DeviceID(bytes: row.bytes(0)) else { return }
            let count = row.int(3)
            switch row.int(1) {
            case 0: tallies[peer, default: Tally()].delivered += count
            case 1: tallies[peer, default: Tally()].refused += count
            default: tallies[peer, default: Tally()].notWanted += count
            }
            if row.bool(2) { tallies[peer, default: Tally()].removed += count }
            tallies[peer, default: Tally()].bytesAnswered += row.uint64(4)
        }
        return tallies
    }

    /// The bytes of all attachments that this device's own live documents name.
    public func ownByteCount(in collection: String) throws -> UInt64 {
        try database.prepare(
            """
            SELECT coalesce(sum(t.length), 0) FROM documents d
            JOIN tokens t ON t.collection = d.collection AND t.document = d.id
            WHERE d.collection = ? AND d.origin = ? AND d.body IS NOT NULL AND d.hidden = 0
            """
        ).first(collection, device.digest.bytes) { $0.uint64(0) } ?? 0
    }
}

extension Snapshot {
    /// The id of the document that this device makes, or made, of a seed.
    public func ownDocumentID(seed: Digest, in collection: String) -> DocumentID {
        Change.ownedDocument(of: device, in: collection, seed: seed)
    }
}

extension Snapshot {
    /// The documents of a collection that name an attachment, at most `limit`.
    public func documents(
        in collection: String, naming attachment: AttachmentID, limit: Int
    ) throws -> [OwnedDocument] {
        let ids = try database.prepare(
            """
            SELECT document FROM tokens WHERE digest = ? AND length = ? AND collection = ? LIMIT ?
            """
        ).all(attachment.digest.bytes, attachment.byteCount, collection, limit) {
            DocumentID(bytes: $0.bytes(0))
        }
        return try ids.compactMap { id in try id.flatMap { try document($0, in: collection) } }
    }
}
