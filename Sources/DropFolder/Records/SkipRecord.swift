import ChuteKit
import ChuteSystem

/// A name that is not shared, or a file of a peer that is not taken, and why.
struct SkipRecord: LocalRow, Hashable {
    static let collection = "skipped"

    var root: Int64
    var path: BytePath
    var reason: String
    var detail: String
    /// What the file looked like, where it was read; `existing` and refused types are looked at
    /// again only when that changes.
    var fingerprint: FileFingerprint?

    var key: [UInt8] { folderKey(root, path) }

    static let isIndexed = true
    var indexes: [RowIndex] { [RowIndex("reason", folderKey(root) + Array(reason.utf8))] }

    var fields: Fields {
        [
            "root": .integer(root), "path": .path(path), "reason": .string(reason),
            "detail": .string(detail),
            "print": .optional(fingerprint.map { .bytes($0.encoded) }),
        ]
    }

    init(
        root: Int64, path: BytePath, reason: SkipReason, detail: String = "",
        fingerprint: FileFingerprint? = nil
    ) {
        self.root = root
        self.path = path
        self.reason = reason.rawValue
        self.detail = detail
        self.fingerprint = fingerprint
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        path = try fields.path("path")
        reason = try fields.string("reason")
        detail = try fields.string("detail")
        fingerprint = fields["print"]?.bytes.flatMap { FileFingerprint(encoded: $0) }
    }
}
