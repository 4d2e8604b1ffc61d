import ChuteSystem

/// Names a device: the SHA-256 of its public key (DER SubjectPublicKeyInfo).
public struct DeviceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The SHA-256 of the public key.
    public let digest: Digest

    /// The device of this digest.
    public init(_ digest: Digest) { self.digest = digest }

    init?(bytes: some Collection<UInt8>) {
        guard let digest = Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    init(publicKey: [UInt8]) { digest = Digest(hashing: publicKey) }

    /// The id of `text`, groups and letter case ignored; `nil` where it is none.
    public init?(_ text: String) {
        let letters = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        guard let bytes = Base32.decode(letters), let id = Self(bytes: bytes) else { return nil }
        self = id
    }

    /// The whole id: base32 (RFC 4648) in groups of four, joined by dashes.
    public var description: String {
        let letters = Array(Base32.encode(digest.bytes))
        return stride(from: 0, to: letters.count, by: 4)
            .map { String(decoding: letters[$0..<min($0 + 4, letters.count)], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// The first eight letters, for folder names and log lines.
    public var short: String {
        String(decoding: Base32.encode(digest.bytes).prefix(8), as: UTF8.self)
    }

    /// Orders by the bytes of the digest.
    public static func < (left: Self, right: Self) -> Bool { left.digest < right.digest }
}

/// Names a space: the devices that share.
public struct SpaceID: Hashable, Sendable, CustomStringConvertible {
    /// The hash that binds the space to its founder, or to its shared key.
    public let digest: Digest

    init(_ digest: Digest) { self.digest = digest }

    init?(bytes: some Collection<UInt8>) {
        guard let digest = Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    /// The space of a device that shares with nobody yet.
    static let alone = SpaceID(Digest(hashing: Array("chute space of one".utf8)))

    /// The space that `publicKey` founds with 32 random bytes.
    static func founded(by publicKey: [UInt8], nonce: [UInt8]) -> SpaceID {
        SpaceID(Digest(hashing: Array("chute space 1".utf8), publicKey, nonce))
    }

    /// The first letters of the id, for people.
    public var description: String {
        String(decoding: Base32.encode(digest.bytes).prefix(12), as: UTF8.self)
    }
}

/// Names a document within its collection: 1 to 128 bytes.
public struct DocumentID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The bytes of the id.
    public let bytes: [UInt8]

    /// An id of these bytes; `nil` for none or more than 128.
    public init?(bytes: some Collection<UInt8>) {
        guard (1...128).contains(bytes.count) else { return nil }
        self.bytes = Array(bytes)
    }

    init(_ digest: Digest) { bytes = digest.bytes }

    /// An id of letters that are known to be few enough.
    init(text: [UInt8]) { bytes = text }

    /// The id that is this text as UTF-8; `nil` for none or more than 128 bytes.
    public init?(_ text: String) { self.init(bytes: text.utf8) }

    /// The text of an id that is text without control characters; `nil` for any other, such as
    /// the hashes that documents of one writer are named by.
    public var string: String? {
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return text
    }

    /// The text of the id, or the hexadecimal digits of one that is no text.
    public var description: String { string ?? hex }

    /// Hexadecimal digits of all bytes.
    public var hex: String { Hexadecimal.text(bytes) }

    /// The id of hexadecimal `text`; `nil` where it is none.
    public init?(hex text: String) {
        guard let bytes = Hexadecimal.bytes(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Orders by the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
