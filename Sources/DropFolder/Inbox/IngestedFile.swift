import ChuteKit
import ChuteSystem

/// A dropped file that was read: what it is, and where its bytes are held.
struct IngestedFile: Sendable {
    var path: BytePath
    var fingerprint: FileFingerprint
    var attachment: AttachmentID
    var layer: [UInt8]
    var note: IngestNote?
    var type: String
    var mode: UInt32
    /// When it was read, on the ingestor's clock.
    var readAt: Duration
    /// The second name of the same bytes below the root; `nil` where the file itself must do.
    var held: BytePath?
    var isHeldOwned = false

    var document: FileDocument {
        var metadata: [String: String] = ["mimeType": type]
        if let name = path.lastComponent.string { metadata["filename"] = name }
        return FileDocument(
            token: AttachmentToken(id: attachment, metadata: metadata), path: path.components,
            modified: fingerprint.modified, mode: Int64(mode & 0o777), type: type)
    }

    func location(root: Int64) -> Location {
        Location(
            root: root, path: held ?? path, fingerprint: fingerprint.encoded,
            isOwned: isHeldOwned)
    }

    func observation(
        _ continuity: NameHistory.Continuity
    ) -> InboxDecision.Observation {
        InboxDecision.Observation(
            path: path, fingerprint: fingerprint,
            content: InboxContent(
                digest: attachment.digest.bytes, byteCount: attachment.byteCount),
            note: note, continuity: continuity, readAt: readAt)
    }
}
