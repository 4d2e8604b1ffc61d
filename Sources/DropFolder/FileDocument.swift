package import ChuteKit

/// A shared file as a document: one register that only its origin writes, never merged in parts.
package struct FileDocument: Hashable, Sendable {
    /// Which bytes.
    package var token: AttachmentToken
    /// The names from the origin's inbox down to the file, as bytes.
    package var path: [[UInt8]]
    /// Nanoseconds since 1970.
    package var modified: Int64
    /// Permission bits at the origin; a hint for people, never applied.
    package var mode: Int64
    /// What the origin says that it is.
    package var type: String

    package init(
        token: AttachmentToken, path: [[UInt8]], modified: Int64, mode: Int64, type: String
    ) {
        self.token = token
        self.path = path
        self.modified = modified
        self.mode = mode
        self.type = type
    }

    /// `nil` for a document without a file; a missing type counts as `image/jpeg`, as old
    /// writers of such documents meant it.
    package init?(_ fields: Fields) {
        guard let token = fields["file"]?.attachmentToken, let names = fields["path"]?.array
        else { return nil }
        let path = names.compactMap(\.bytes)
        guard path.count == names.count else { return nil }
        self.init(
            token: token, path: path, modified: fields["modified"]?.integer ?? 0,
            mode: fields["mode"]?.integer ?? 0,
            type: fields["mimeType"]?.string ?? "image/jpeg")
    }

    package var fields: Fields {
        [
            "file": .attachment(token), "path": .array(path.map { .bytes($0) }),
            "modified": .integer(modified), "mode": .integer(mode), "mimeType": .string(type),
        ]
    }

    package var attachment: AttachmentID { token.id }

    /// The path for people and rows. Nothing is opened by it.
    package var joinedPath: BytePath { BytePath(components: path) }

    /// What makes a document of this file another one than all others of its origin: the path,
    /// the first bytes, and how many the origin made of the two before.
    package static func seed(path: BytePath, first: AttachmentID, incarnation: Int64) -> Digest {
        Digest.seed([
            .bytes(path.bytes), .bytes(first.digest.bytes), .integer(Int64(first.byteCount)),
            .integer(incarnation),
        ])
    }
}
