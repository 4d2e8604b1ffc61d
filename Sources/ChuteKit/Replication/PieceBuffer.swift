import ChuteSystem
import Synchronization

/// Memory for whole pieces that is used again: a mebibyte given back to the system and taken
/// from it for each piece costs more than hashing it.
///
/// Keeps at most `limit` of them.
final class PieceBufferPool: Sendable {
    private struct State {
        // Owned by nobody else while it lies here.
        nonisolated(unsafe) var free: [UnsafeMutableRawBufferPointer] = []
    }

    private let state = Mutex(State())
    private static let limit = 8

    deinit { state.withLock { $0.free.forEach { $0.deallocate() } } }

    fileprivate func take() -> UnsafeMutableRawBufferPointer {
        state.withLock { $0.free.popLast() }
            ?? .allocate(
                byteCount: PieceTree.pieceByteCount, alignment: FileDescriptor.directAlignment)
    }

    fileprivate func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
        let isKept = state.withLock { state in
            guard state.free.count < Self.limit else { return false }
            state.free.append(memory)
            return true
        }
        if !isKept { memory.deallocate() }
    }
}

/// The bytes of one piece, or of one piece layer, while they come in.
///
/// `@unchecked Sendable` because it is handed over: from the session that fills it to the
/// fetcher that checks and writes it, never used by both.
final class PieceBuffer: @unchecked Sendable {
    let bytes: UnsafeMutableRawBufferPointer
    private(set) var filled = 0

    private let pool: PieceBufferPool?

    /// Room for `byteCount` bytes; that of a whole piece comes from the pool.
    init(byteCount: Int, from pool: PieceBufferPool? = nil) {
        self.pool = byteCount == PieceTree.pieceByteCount ? pool : nil
        bytes =
            self.pool?.take()
            ?? .allocate(byteCount: byteCount, alignment: FileDescriptor.directAlignment)
    }

    deinit {
        if let pool { pool.giveBack(bytes) } else { bytes.deallocate() }
    }

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
