import ChuteSystem

/// Shows the other end that this one belongs to the space. Nothing else is sent before.
enum Proof: Hashable, Sendable {
    /// The key of the connection is that of a member.
    case member
    /// An HMAC under the space's shared key, bound to this connection.
    case sharedKey([UInt8])
    /// The secret of a ticket.
    case ticket([UInt8])

    var cbor: CBOR {
        switch self {
        case .member: .map([0: .unsigned(0)])
        case .sharedKey(let mac): .map([0: .unsigned(1), 1: .bytes(mac)])
        case .ticket(let secret): .map([0: .unsigned(2), 1: .bytes(secret)])
        }
    }

    init(cbor: CBOR) throws(WireError) {
        switch (cbor[0]?.uint, cbor[1]?.bytesValue) {
        case (0, _): self = .member
        case (1, .some(let mac)) where mac.count == 32: self = .sharedKey(mac)
        case (2, .some(let secret)) where secret.count == Ticket.secretByteCount:
            self = .ticket(secret)
        default: throw .malformed("a proof")
        }
    }
}

/// The first message after the proofs, from both ends.
struct Hello: Hashable, Sendable {
    /// The version of the protocol; the lower of both counts.
    var version: UInt64 = 1
    /// Random for each start of an engine: tells a restart from a clone.
    var instance: UInt64
    /// How far the other end's stream has come here.
    var cursor: Cursor?
    /// The greatest counter of the other end's own changes that is known here.
    var counter: UInt64
    /// What the sender's clock says, in milliseconds since 1970; decides nothing.
    var clock: UInt64?
    /// What the sender says of itself: encoded `Fields`, at most `LocalPeer.metadataLimit` bytes;
    /// empty for nothing.
    var metadata: [UInt8]
    /// What the sender wants of the other end: an encoded `Subscription`; `nil` for everything.
    var subscription: [UInt8]?

    var cbor: CBOR {
        var entries: [Int: CBOR] = [
            0: .unsigned(version), 1: .unsigned(instance), 2: .unsigned(counter),
        ]
        if let subscription { entries[6] = .bytes(subscription) }
        if let cursor { entries[3] = .array([.unsigned(cursor.n), .bytes(cursor.tag)]) }
        if let clock { entries[4] = .unsigned(clock) }
        if !metadata.isEmpty { entries[5] = .bytes(metadata) }
        return .map(entries)
    }

    init(
        instance: UInt64, cursor: Cursor?, counter: UInt64, clock: UInt64? = nil,
        metadata: [UInt8] = [], subscription: [UInt8]? = nil
    ) {
        self.subscription = subscription
        self.instance = instance
        self.cursor = cursor
        self.counter = counter
        self.clock = clock
        self.metadata = metadata
    }

    init(cbor: CBOR) throws(WireError) {
        guard let version = cbor[0]?.uint, version >= 1, let instance = cbor[1]?.uint,
            let counter = cbor[2]?.uint
        else { throw .malformed("a hello") }
        self.version = version
        self.instance = instance
        self.counter = counter
        cursor = try cbor[3].map { value throws(WireError) in try Cursor(cbor: value) }
        clock = cbor[4]?.uint
        subscription = cbor[6]?.bytesValue
        metadata = cbor[5]?.bytesValue ?? []
        guard metadata.count <= LocalPeer.metadataLimit else { throw .tooLarge("metadata") }
    }
}

extension Cursor {
    var cbor: CBOR { .array([.unsigned(n), .bytes(tag)]) }

    init(cbor: CBOR) throws(WireError) {
        guard let parts = cbor.arrayValue, parts.count == 2, let n = parts[0].uint,
            n <= UInt64(Int64.max), let tag = parts[1].bytesValue, tag.count == 8
        else { throw .malformed("a cursor") }
        self.init(n: n, tag: tag)
    }
}

extension ChangePage {
    /// The most parts of a page: as many as an introduction has, each with one change.
    static let partLimit = 4096

    var cbor: CBOR {
        var entries: [Int: CBOR] = [
            0: .array(
                parts.map { part in
                    .array([
                        .bytes(part.header), .bytes(part.signature),
                        .array(part.changes.map { .bytes($0) }),
                    ])
                })
        ]
        if let end { entries[1] = end.cbor }
        return .map(entries)
    }

    init(cbor: CBOR) throws(WireError) {
        guard let list = cbor[0]?.arrayValue, list.count <= Self.partLimit else {
            throw .malformed("changes")
        }
        for item in list {
            guard let fields = item.arrayValue, fields.count == 3,
                let header = fields[0].bytesValue, let signature = fields[1].bytesValue,
                let changes = fields[2].arrayValue
            else { throw .malformed("changes") }
            parts.append(
                Part(
                    header: header, signature: signature,
                    changes: changes.compactMap(\.bytesValue)))
        }
        end = try cbor[1].map { value throws(WireError) in try Cursor(cbor: value) }
    }
}

/// Asks for a piece, or for the hashes of all pieces, from `offset` in it on.
struct PieceRequest: Hashable, Sendable {
    let number: UInt32
    let attachment: AttachmentID
    /// `nil` for the piece layer.
    let piece: UInt64?
    let offset: Int

    static let limit = 1024

    /// Whether there is such a place in such an attachment.
    var isWithinAttachment: Bool {
        let length = attachment.byteCount
        let count =
            piece.map { PieceTree.byteCount(ofPiece: $0, length: length) }
            ?? PieceTree.layerByteCount(length: length) ?? 0
        return (0..<count).contains(offset)
    }

    static func cbor(_ requests: [PieceRequest]) -> CBOR {
        .array(
            requests.map { request in
                .array([
                    .unsigned(UInt64(request.number)), .bytes(request.attachment.digest.bytes),
                    .unsigned(request.attachment.byteCount),
                    request.piece.map { .unsigned($0) } ?? .null,
                    .unsigned(UInt64(request.offset)),
                ])
            })
    }

    static func list(cbor: CBOR) throws(WireError) -> [PieceRequest] {
        guard let items = cbor.arrayValue, items.count <= limit else { throw .malformed("a want") }
        var requests: [PieceRequest] = []
        for item in items {
            guard let fields = item.arrayValue, fields.count == 5,
                let number = fields[0].uint.flatMap(UInt32.init(exactly:)),
                let attachment = AttachmentID(fields[1], fields[2]),
                fields[3].isNull || fields[3].uint != nil,
                let offset = fields[4].uint.flatMap(Int.init(exactly:))
            else { throw .malformed("a want") }
            requests.append(
                PieceRequest(
                    number: number, attachment: attachment, piece: fields[3].uint, offset: offset))
        }
        return requests
    }
}

/// Says which pieces of an attachment are here: news for a peer that asked for one in vain.
struct Holding: Hashable, Sendable {
    let attachment: AttachmentID
    /// One bit for each piece, the first in the highest bit; empty for all of them.
    let pieces: [UInt8]

    var cbor: CBOR {
        .array([
            .bytes(attachment.digest.bytes), .unsigned(attachment.byteCount), .bytes(pieces),
        ])
    }

    init(attachment: AttachmentID, pieces: [UInt8] = []) {
        self.attachment = attachment
        self.pieces = pieces
    }

    init(cbor: CBOR) throws(WireError) {
        guard let fields = cbor.arrayValue, fields.count == 3,
            let attachment = AttachmentID(fields[0], fields[1]),
            let pieces = fields[2].bytesValue,
            pieces.count <= (PieceTree.pieceCount(length: attachment.byteCount) + 7) / 8
        else { throw .malformed("a have") }
        self.init(attachment: attachment, pieces: pieces)
    }

    func has(_ piece: UInt64) -> Bool {
        if pieces.isEmpty { return true }
        guard let byte = Int(exactly: piece / 8), byte < pieces.count else { return false }
        return pieces[byte] & (0x80 >> UInt8(piece % 8)) != 0
    }
}

extension AttachmentID {
    init?(_ digest: CBOR, _ count: CBOR) {
        guard let digest = digest.bytesValue.flatMap(Digest.init(bytes:)), let count = count.uint
        else { return nil }
        self.init(digest: digest, byteCount: count)
    }
}

/// Why a connection ends; known to the other end as text.
struct GoodbyeReason: Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = String(description.prefix(64)) }

    static let stopping = Self("stopping")
    static let notMember = Self("not-a-member")
    static let removed = Self("removed")
    static let duplicateConnection = Self("duplicate-connection")
    static let duplicateDevice = Self("duplicate-device")
    static let malformed = Self("malformed")
    static let spaceChanged = Self("space-changed")
    /// This end wants something else of the other from now on: connect again.
    static let subscriptionChanged = Self("subscription-changed")
    /// This end does not use the connection's transport any more, or not this address: others may do.
    static let transportChanged = Self("transport-changed")
    /// Nothing came from the other end for too long.
    static let silent = Self("silent")
    static let connectionRefused = Self("connection-refused")
    /// One of both only sends, which goes to owners alone, and the other is none.
    static let ownersOnly = Self("owners-only")
    static let ticketUnknown = Self("ticket-unknown")
    static let ticketExpired = Self("ticket-expired")
    static let ticketUsedUp = Self("ticket-used-up")
    static let ticketRevoked = Self("ticket-revoked")
}
