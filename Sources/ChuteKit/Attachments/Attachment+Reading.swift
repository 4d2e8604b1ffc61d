import ChuteSystem

/// An attachment whose bytes are on this device: what is written into a document.
///
/// What is read out of a document is an `AttachmentToken`; fetching that gives one of these.
/// While no document names it, garbage collection removes it an hour after it was taken in or
/// last used.
public struct Attachment: Hashable, Sendable {
    /// Names the bytes, and says what is claimed of them.
    public let token: AttachmentToken
    let blobs: BlobFolder
    let reader: BlobReader

    /// Names the bytes.
    public var id: AttachmentID { token.id }
    /// How many bytes it has.
    public var len: UInt64 { token.id.byteCount }
    /// What its maker says about it.
    public var metadata: [String: String] { token.metadata }

    /// Two are equal whose tokens are.
    public static func == (left: Self, right: Self) -> Bool { left.token == right.token }

    /// Hashes the token.
    public func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

extension Attachment {
    /// All bytes at once. For large ones use `bytes`, `copy(to:)` or `withFile(_:)`.
    ///
    /// Throws `tooLarge` where there are more than `limit`, and `absent` where the bytes are not
    /// on this device any more.
    public func data(limit: UInt64 = 64 << 20) async throws -> [UInt8] {
        guard len <= limit else {
            throw ChuteError(
                .tooLarge,
                "an attachment of \(len) bytes, of which \(limit) may be in memory: read `bytes`, "
                    + "or use copy(to:)")
        }
        var all: [UInt8] = []
        all.reserveCapacity(Int(len))
        for try await chunk in bytes { all += chunk }
        return all
    }

    /// The bytes in their order, read as they are asked for.
    public var bytes: AttachmentBytes { AttachmentBytes(attachment: id, reader: reader) }

    /// Makes a new file of the bytes; shared with the engine's own where the file system can.
    ///
    /// The name appears with all bytes in it, durable when this returns. Throws `alreadyExists`
    /// where something has that name: it is never replaced; `notFound`, `permission`, `noSpace`,
    /// `overQuota`, `absent`, or `CancellationError`. Then nothing is there.
    public func copy(to path: BytePath) async throws { try await reader.copy(id, to: path) }

    /// A file with the bytes, to be read only, for as long as `body` runs.
    ///
    /// It is the engine's own: bytes that lie in a user's file are copied first. Garbage
    /// collection leaves it alone meanwhile. Throws `absent`, what copying throws, and what
    /// `body` does.
    public func withFile<Result: Sendable>(
        _ body: @Sendable (AttachmentFile) async throws -> Result
    ) async throws -> Result {
        blobs.uses.begin(id)
        defer { blobs.uses.end(id) }
        let blob = try await ownBlob()
        let path = blobs.path.appending(blob.location.path)
        return try await body(AttachmentFile(descriptor: blob.file.raw, path: path))
    }

    private func ownBlob() async throws -> OpenBlob {
        if let blob = try await reader.open(id, except: []), blob.isTrusted { return blob }
        let taken = try await blobs.take(bytes)
        guard taken == id, let blob = try await reader.open(id, except: []), blob.isTrusted else {
            throw ChuteError(.absent, "the bytes of \(id) are not on this device any more")
        }
        return blob
    }
}

/// A file that has the bytes of an attachment, while `Attachment.withFile` runs.
public struct AttachmentFile: Sendable {
    /// Open for reading; not to be closed, and not valid any more when the body returns.
    public let descriptor: Int32
    /// Where it lies: not to be written, moved or removed.
    public let path: BytePath
}

extension Value {
    /// What names an attachment in a document.
    public static func attachment(_ attachment: Attachment) -> Value {
        .attachment(attachment.token)
    }
}
