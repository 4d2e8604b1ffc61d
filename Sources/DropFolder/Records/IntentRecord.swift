import ChuteKit
import ChuteSystem

/// A file that is about to get its name: what recovery has to know after a crash.
struct IntentRecord: LocalRow, Hashable {
    static let collection = "intents"

    var root: Int64
    var document: DocumentID
    var intent: PublishIntent

    var key: [UInt8] { folderKey(root) + document.bytes }
    var indexes: [String: [UInt8]] { [:] }

    init(root: Int64, document: DocumentID, intent: PublishIntent) {
        self.root = root
        self.document = document
        self.intent = intent
    }

    var fields: Fields {
        [
            "root": .integer(root), "document": .document(document),
            "start": .path(intent.start), "staged": .path(intent.stagedName),
            "target": .path(intent.target),
            "print": .bytes(intent.fingerprint.encoded),
            "replacing": .optional(intent.replacing.map { .bytes($0.encoded) }),
        ]
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        document = try fields.document("document")
        intent = PublishIntent(
            index: 0, start: try fields.path("start"), stagedName: try fields.path("staged"),
            target: try fields.path("target"),
            fingerprint: try Self.fingerprint(fields),
            replacing: fields["replacing"]?.bytes.flatMap { CopyFingerprint(encoded: $0) })
    }

    /// Rows of before had the identity alone: such a file counts as changed by its user.
    private static func fingerprint(_ fields: Fields) throws -> CopyFingerprint {
        if let known = fields["print"]?.bytes.flatMap({ CopyFingerprint(encoded: $0) }) {
            return known
        }
        return CopyFingerprint(
            identity: InodeIdentity(
                inode: UInt64(bitPattern: try fields.integer("inode")),
                birth: try fields.integer("birth")),
            size: .max, modified: 0, changed: 0)
    }
}
