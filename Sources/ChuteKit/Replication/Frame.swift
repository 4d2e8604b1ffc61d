/// What a frame carries; the number is on the wire.
///
/// A frame is a big-endian count of 32 bits, one byte of type, and a payload; the count is that
/// of type and payload. Types of a later version are skipped.
enum FrameType: UInt8, Sendable {
    case prove = 1
    case hello = 2
    case changes = 3
    case acknowledge = 4
    case have = 5
    case want = 6
    case piece = 7
    case absent = 8
    case mismatch = 9
    case cancel = 10
    case ping = 11
    case goodbye = 12
    case confirm = 13
    case confirmed = 14
    case relay = 15
    case dialBack = 16
    case dialedBack = 17

    static let headerByteCount = 5

    /// The most bytes of payload of a frame of this type.
    var payloadLimit: Int {
        switch self {
        case .hello: LocalPeer.metadataLimit + Subscription.sizeLimit + (4 << 10)
        case .prove, .acknowledge, .ping, .goodbye, .dialBack, .dialedBack: 4 << 10
        case .changes: Change.sizeLimit + (1 << 20)
        case .have, .want: 1 << 20
        case .piece: PieceFrame.headerByteCount + PieceFrame.dataLimit
        case .absent, .mismatch, .cancel, .confirm, .confirmed, .relay: 64 << 10
        }
    }

    /// What a frame of an unknown type may have: it is read and thrown away.
    static let unknownPayloadLimit = 1 << 20
    /// What anything may have before the peer has proved that it belongs here.
    static let unprovedPayloadLimit = 4 << 10
}

/// The payload of a `piece` frame: the number of the request, where in the piece the data
/// belongs (both big-endian, 32 bits), and the data, at most 64 KiB.
enum PieceFrame {
    static let headerByteCount = 8
    static let dataLimit = 64 << 10

    static func header(request: UInt32, offset: UInt32) -> [UInt8] {
        withUnsafeBytes(of: request.bigEndian, Array.init)
            + withUnsafeBytes(of: offset.bigEndian, Array.init)
    }

    static func read(
        _ payload: UnsafeRawBufferPointer
    ) throws(WireError) -> (request: UInt32, offset: Int, data: UnsafeRawBufferPointer) {
        guard payload.count > headerByteCount else { throw .malformed("a piece without data") }
        let request = UInt32(bigEndian: payload.loadUnaligned(as: UInt32.self))
        let offset = UInt32(bigEndian: payload.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        return (
            request, Int(offset), UnsafeRawBufferPointer(rebasing: payload[headerByteCount...])
        )
    }
}
