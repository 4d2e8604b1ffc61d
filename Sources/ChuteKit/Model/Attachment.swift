/// Names immutable bytes: the root of their hash tree together with their count.
///
/// `digest` is the pieces root of BitTorrent v2 (BEP 52): SHA-256 over leaves of 16 KiB. The
/// count belongs to the name, since the shape of the tree comes from it: two files of different
/// lengths can have one root. The empty file, which BEP 52 leaves out, has the SHA-256 of nothing.
public struct AttachmentID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The root of the hash tree.
    public let digest: Digest
    /// The number of bytes.
    public let byteCount: UInt64

    /// The name of `byteCount` bytes whose tree has this root; `nil` above 2^53 bytes.
    public init?(digest: Digest, byteCount: UInt64) {
        guard byteCount <= Self.largest else { return nil }
        self.digest = digest
        self.byteCount = byteCount
    }

    /// 8 PiB: what every number format on the way holds.
    static let largest: UInt64 = 1 << 53

    /// `<64 hexadecimal digits>-<count>`: the name of a blob file.
    public var blobName: String { "\(digest.hex)-\(byteCount)" }

    /// A short form for log lines.
    public var description: String { "\(digest)-\(byteCount)" }

    /// Orders by root, then count.
    public static func < (left: Self, right: Self) -> Bool {
        (left.digest, left.byteCount) < (right.digest, right.byteCount)
    }
}

/// What a document keeps of an attachment: which bytes, and what is said about them.
///
/// One value that is never merged in parts. The bytes travel only when they are fetched.
public struct AttachmentToken: Hashable, Sendable {
    /// Which bytes.
    public let id: AttachmentID
    /// What the maker says about them, readable before any fetch. A claim, not a fact.
    public let metadata: [String: String]

    /// The most bytes that all of `metadata` may take together.
    public static let metadataLimit = 64 << 10

    /// A token for `id`.
    public init(id: AttachmentID, metadata: [String: String] = [:]) {
        self.id = id
        self.metadata = metadata
    }

    /// The number of bytes of the attachment.
    public var len: UInt64 { id.byteCount }
}
