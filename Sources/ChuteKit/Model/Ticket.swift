import ChuteSystem

/// An invitation that one device hands to another, outside of Chute, as a line of text.
///
/// Text: `chute1:` and the base32 of CBOR `{0: space, 1: inviter, 2: secret, 3: [address],
/// 4: expiry in seconds since 1970}`.
public struct Ticket: Hashable, Sendable, CustomStringConvertible {
    /// The space that it opens.
    public let space: SpaceID
    /// The device that made it; nothing is sent to any other.
    public let inviter: DeviceID
    /// 128 random bits, kept by the inviter as a hash only.
    let secret: [UInt8]
    /// Where to find the inviter, as the transports take it: `host:port`.
    public let addresses: [String]
    /// Seconds since 1970 by the inviter's clock.
    public let expires: UInt64

    static let secretByteCount = 16
    static let addressLimit = 64
    static let addressByteLimit = 512
    private static let prefix = "chute1:"

    /// The id by which the inviter lists and revokes it.
    public var id: String { Self.id(secretHash: secretHash) }

    static func id(secretHash: Digest) -> String { String(secretHash.hex.prefix(8)) }

    var secretHash: Digest { Digest(hashing: Array("chute ticket 1".utf8), secret) }

    init(
        space: SpaceID, inviter: DeviceID, secret: [UInt8], addresses: [String], expires: UInt64
    ) {
        self.space = space
        self.inviter = inviter
        self.secret = secret
        self.addresses = addresses
        self.expires = expires
    }

    /// The ticket of a line of text, white space around it ignored; `nil` where it is none.
    public init?(_ text: String) {
        let line = text.filter { !$0.isWhitespace }
        guard line.lowercased().hasPrefix(Self.prefix),
            let bytes = Base32.decode(line.utf8.dropFirst(Self.prefix.utf8.count)),
            let cbor = try? CBOR.decode(bytes),
            let space = cbor[0]?.bytesValue.flatMap(SpaceID.init(bytes:)),
            let inviter = cbor[1]?.bytesValue.flatMap(DeviceID.init(bytes:)),
            let secret = cbor[2]?.bytesValue, secret.count == Self.secretByteCount,
            let addresses = cbor[3]?.arrayValue, addresses.count <= Self.addressLimit,
            let expires = cbor[4]?.uint
        else { return nil }
        self.init(
            space: space, inviter: inviter, secret: secret,
            addresses: addresses.compactMap { $0.textValue }, expires: expires)
    }

    /// The line of text.
    public var description: String {
        let cbor = CBOR.map([
            0: .bytes(space.digest.bytes), 1: .bytes(inviter.digest.bytes), 2: .bytes(secret),
            3: .array(addresses.map { .text($0) }), 4: .unsigned(expires),
        ])
        return Self.prefix
            + String(decoding: Base32.encode(cbor.encoded()), as: UTF8.self).lowercased()
    }
}
