import ChuteSystem

/// Why garbage collection leaves an attachment alone that no document names.
enum PinReason: Int, Sendable {
    /// The application asked for it.
    case asked = 0
    /// Its file was moved in, and no document has named it yet.
    case movedIn = 1
}

/// What the store knows of the files in its own blob folder.
extension Snapshot {
    /// One blob: which bytes, and the file that should have them.
    struct Blob: Hashable, Sendable {
        let attachment: AttachmentID
        let location: Location
    }

    /// The number of a root that is registered exactly so.
    func root(mark: [UInt8], path: BytePath, role: String) throws -> Int64? {
        try database.prepare("SELECT id FROM roots WHERE mark = ? AND path = ? AND role = ?")
            .first(mark, path.bytes, role) { $0.int64(0) }
    }

    /// The blobs below a root that are the agent's own, in the order of their names.
    func blobs(inRoot root: Int64) throws -> [Blob] {
        try database.prepare(
            """
            SELECT digest, length, root, path, fingerprint, owned FROM locations
            WHERE root = ? AND owned = 1 ORDER BY path
            """
        ).all(root) { try Self.blob($0) }
    }

    /// Those of them that no document names, nobody pinned and nobody wants.
    func unreferencedBlobs(inRoot root: Int64) throws -> [Blob] {
        try database.prepare(
            """
            SELECT l.digest, l.length, l.root, l.path, l.fingerprint, l.owned FROM locations l
            WHERE l.root = ? AND l.owned = 1
            AND NOT EXISTS (SELECT 1 FROM tokens t
                WHERE t.digest = l.digest AND t.length = l.length)
            AND NOT EXISTS (SELECT 1 FROM pins p
                WHERE p.digest = l.digest AND p.length = l.length)
            AND NOT EXISTS (SELECT 1 FROM wants w
                WHERE w.digest = l.digest AND w.length = l.length)
            ORDER BY l.path
            """
        ).all(root) { try Self.blob($0) }
    }

    private static func blob(_ row: borrowing Row) throws -> Blob {
        guard let digest = Digest(bytes: row.bytes(0)),
            let attachment = AttachmentID(digest: digest, byteCount: row.uint64(1))
        else { throw WireError.malformed("a row of locations") }
        return Blob(
            attachment: attachment,
            location: Location(
                root: row.int64(2), path: row.path(3), fingerprint: row.bytes(4),
                isOwned: row.bool(5)))
    }

    /// Where the blob of an attachment lies below a root.
    func blob(of attachment: AttachmentID, inRoot root: Int64) throws -> Location? {
        try locations(of: attachment).first { $0.root == root && $0.isOwned }
    }

    /// Whether any document, one that does not count now too, names these bytes, or a pin keeps
    /// them.
    func isKept(_ attachment: AttachmentID) throws -> Bool {
        try database.prepare(
            """
            SELECT 1 FROM tokens WHERE digest = ?1 AND length = ?2
            UNION ALL SELECT 1 FROM pins WHERE digest = ?1 AND length = ?2 LIMIT 1
            """
        ).first(attachment.digest.bytes, attachment.byteCount) { _ in true } ?? false
    }

    /// Whether garbage collection leaves it alone, whoever names it.
    func isPinned(_ attachment: AttachmentID) throws -> Bool {
        try database.prepare("SELECT 1 FROM pins WHERE digest = ? AND length = ? AND reason = 0")
            .first(attachment.digest.bytes, attachment.byteCount) { _ in true } ?? false
    }

    /// The devices that delivered a document that names these bytes and still have them, and
    /// those that alone may write one.
    func knownHolders(of attachment: AttachmentID) throws -> Set<DeviceID> {
        let writers = try database.prepare(
            """
            SELECT DISTINCT d.origin FROM tokens t JOIN documents d
            ON d.collection = t.collection AND d.id = t.document
            WHERE t.digest = ? AND t.length = ? AND d.origin IS NOT NULL AND d.hidden = 0
            AND d.body IS NOT NULL
            """
        ).all(attachment.digest.bytes, attachment.byteCount) { DeviceID(bytes: $0.bytes(0)) }
        return try holders(of: attachment).union(writers.compactMap(\.self)).subtracting([device])
    }
}
