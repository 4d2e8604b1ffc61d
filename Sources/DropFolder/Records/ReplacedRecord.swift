import ChuteKit
import ChuteSystem

/// An earlier version of a delivered file that a later one took the name of.
struct ReplacedRecord: LocalRow, Hashable {
    static let collection = "replaced"

    var root: Int64
    var document: DocumentID
    /// Where it went, and as what.
    var copy: DeliveredCopy
    /// By the wall clock, in seconds since 1970: from when on its time is counted.
    var since: Int64

    var key: [UInt8] { folderKey(root, copy.path) }

    init(root: Int64, document: DocumentID, copy: DeliveredCopy, since: Int64) {
        self.root = root
        self.document = document
        self.copy = copy
        self.since = since
    }

    var fields: Fields {
        [
            "root": .integer(root), "document": .document(document), "copy": .path(copy.path),
            "print": .bytes(copy.fingerprint.encoded), "since": .integer(since),
        ]
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        document = try fields.document("document")
        copy = DeliveredCopy(
            path: try fields.path("copy"),
            fingerprint: try fields.need("print") {
                $0.bytes.flatMap { CopyFingerprint(encoded: $0) }
            })
        since = try fields.integer("since")
    }
}
