import ChuteSystem

/// Upkeep of the blob folder's rows.
extension Transaction {
    /// Keeps an attachment from garbage collection.
    func pin(_ attachment: AttachmentID, _ reason: PinReason) throws {
        try database.prepare("INSERT OR IGNORE INTO pins VALUES (?, ?, ?)")
            .run(attachment.digest.bytes, attachment.byteCount, reason.rawValue)
    }

    /// Lets garbage collection have it again, once no document names it.
    func unpin(_ attachment: AttachmentID) throws {
        try database.prepare("DELETE FROM pins WHERE digest = ? AND length = ?")
            .run(attachment.digest.bytes, attachment.byteCount)
    }

    /// Bytes that were moved in and that a document has named need no pin of their own any more.
    func unpinNamed() throws {
        try database.prepare(
            """
            DELETE FROM pins WHERE reason = ? AND EXISTS
            (SELECT 1 FROM tokens t WHERE t.digest = pins.digest AND t.length = pins.length)
            """
        ).run(PinReason.movedIn.rawValue)
    }

    /// Forgets a blob if it is still garbage, and still the file that was judged; whether it was.
    func forgetIfUnreferenced(_ blob: Blob) throws -> Bool {
        let key = (blob.attachment.digest.bytes, blob.attachment.byteCount)
        let isForgotten =
            try database.prepare(
                """
                DELETE FROM locations WHERE digest = ?1 AND length = ?2 AND root = ?3 AND path = ?4
                AND fingerprint = ?5 AND owned = 1
                AND NOT EXISTS (SELECT 1 FROM tokens WHERE digest = ?1 AND length = ?2)
                AND NOT EXISTS (SELECT 1 FROM pins WHERE digest = ?1 AND length = ?2)
                AND NOT EXISTS (SELECT 1 FROM wants WHERE digest = ?1 AND length = ?2)
                RETURNING 1
                """
            ).first(
                key.0, key.1, blob.location.root, blob.location.path.bytes,
                blob.location.fingerprint
            ) { _ in true } ?? false
        if isForgotten { try takeBackIfGone(blob.attachment) }
        return isForgotten
    }

    /// Forgets a blob whose file is gone or damaged, and takes back that the bytes are here where
    /// no other file has them.
    func forget(_ blob: Blob) throws {
        try removeLocation(root: blob.location.root, path: blob.location.path)
        try takeBackIfGone(blob.attachment)
    }

    private func takeBackIfGone(_ attachment: AttachmentID) throws {
        if try locations(of: attachment).isEmpty { try takeBackAcknowledgement(of: attachment) }
    }

    /// Forgets what lies below blob folders that are not this one: they are gone.
    func forgetBlobRoots(except root: Int64, role: String) throws {
        try database.prepare(
            """
            DELETE FROM locations WHERE root IN
            (SELECT id FROM roots WHERE role = ?2 AND id <> ?1)
            """
        ).run(root, role)
        try database.prepare("DELETE FROM roots WHERE role = ?2 AND id <> ?1").run(root, role)
    }

    /// Takes back all wants of an attachment, or of all, whose staged files lie below a root.
    func unwant(_ attachment: AttachmentID? = nil, inRoot root: Int64) throws {
        if let attachment {
            try database.prepare("DELETE FROM wants WHERE root = ? AND digest = ? AND length = ?")
                .run(root, attachment.digest.bytes, attachment.byteCount)
        } else {
            try database.prepare("DELETE FROM wants WHERE root = ?").run(root)
        }
        touched.insert(.withdrawals)
    }

    /// Removes the hashes of pieces of attachments that nothing here is about; how many.
    func removeUnusedLayers() throws -> Int {
        try database.prepare(
            """
            DELETE FROM layers
            WHERE NOT EXISTS (SELECT 1 FROM tokens t
                WHERE t.digest = layers.digest AND t.length = layers.length)
            AND NOT EXISTS (SELECT 1 FROM locations l
                WHERE l.digest = layers.digest AND l.length = layers.length)
            AND NOT EXISTS (SELECT 1 FROM wants w
                WHERE w.digest = layers.digest AND w.length = layers.length)
            RETURNING 1
            """
        ).all { _ in true }.count
    }

    /// Removes the signatures of which no change is left; how many. Reads all changes.
    func removeUnusedBatches() throws -> Int {
        batchIDs = [:]
        return try database.prepare(
            """
            DELETE FROM batches WHERE id NOT IN
            (SELECT batch FROM changes WHERE batch IS NOT NULL) RETURNING 1
            """
        ).all { _ in true }.count
    }
}
