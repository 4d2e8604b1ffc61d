import ChuteSystem

/// The bytes of one piece, or of one piece layer, while they come in.
///
/// `@unchecked Sendable` because it is handed over: from the session that fills it to the
/// fetcher that checks and writes it, never used by both.
final class PieceBuffer: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
    private(set) var filled = 0

    init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: 16)
    }

    deinit { bytes.deallocate() }

    var isFull: Bool { filled == bytes.count }

    /// Adds `data` at `offset`, which must be where the last one ended.
    func append(_ data: UnsafeRawBufferPointer, at offset: Int) throws(WireError) {
        guard offset == filled, data.count <= bytes.count - filled else {
            throw .malformed("a piece out of order")
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]).copyMemory(from: data)
        filled += data.count
    }
}
