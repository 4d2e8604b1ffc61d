import ChuteKit
import ChuteSystem

/// What is recorded of a name in an inbox whose file was shared.
struct InboxRecord: LocalRow, Hashable {
    static let collection = "inbox"

    var root: Int64
    var path: BytePath
    var document: DocumentID
    var seed: Digest
    var attachment: AttachmentID
    var fingerprint: FileFingerprint
    var note: IngestNote?
    /// The name stood empty since: its next file is another document.
    var wasSeenAbsent = false
    /// The file below the root that holds the bytes for the peers, while it is needed.
    var held: BytePath?
    /// `after_ingest` took the file away. Nothing is to be concluded from that: neither a removal
    /// nor a rename.
    var isTaken = false

    var key: [UInt8] { folderKey(root, path) }

    static let isIndexed = true
    var indexes: [RowIndex] {
        var indexes = [
            RowIndex("document", document.bytes),
            RowIndex("inode", Self.inodeIndex(root: root, fingerprint)),
        ]
        if let held {
            indexes.append(RowIndex("held", folderKey(root)))
            indexes.append(RowIndex("hold", folderKey(root, held)))
        }
        return indexes
    }

    static func inodeIndex(root: Int64, _ fingerprint: FileFingerprint) -> [UInt8] {
        folderKey(root) + withUnsafeBytes(of: fingerprint.inode, Array.init)
    }

    var fields: Fields {
        [
            "root": .integer(root), "path": .path(path), "document": .document(document),
            "seed": .bytes(seed.bytes), "file": .attachment(attachment),
            "print": .bytes(fingerprint.encoded),
            "note": .optional(note.map { .string($0.reason.rawValue) }),
            "absent": .bool(wasSeenAbsent), "held": .optional(held.map { .path($0) }),
            "taken": .bool(isTaken),
        ]
    }

    init(
        root: Int64, path: BytePath, document: DocumentID, seed: Digest,
        attachment: AttachmentID, fingerprint: FileFingerprint, note: IngestNote?
    ) {
        self.root = root
        self.path = path
        self.document = document
        self.seed = seed
        self.attachment = attachment
        self.fingerprint = fingerprint
        self.note = note
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        path = try fields.path("path")
        document = try fields.document("document")
        seed = try fields.digest("seed")
        attachment = try fields.attachment("file")
        fingerprint = try fields.need("print") {
            $0.bytes.flatMap { FileFingerprint(encoded: $0) }
        }
        note = fields["note"]?.string.flatMap { code in
            [IngestNote.empty, .possiblyTruncated].first { $0.reason.rawValue == code }
        }
        wasSeenAbsent = fields["absent"]?.bool ?? false
        held = fields["held"]?.bytes.map { BytePath(bytes: $0) }
        isTaken = fields["taken"]?.bool ?? false
    }

    /// The part of it that decisions need.
    var row: InboxRow {
        InboxRow(
            path: path, documentID: document.bytes,
            content: InboxContent(
                digest: attachment.digest.bytes, byteCount: attachment.byteCount),
            fingerprint: fingerprint, note: note, wasSeenAbsent: wasSeenAbsent)
    }
}
