import ChuteSystem
import Synchronization

extension PieceTree {
    /// Which pieces of a file are taken and what they hashed to, shared by the threads that hash
    /// it.
    final class Progress: Sendable {
        private struct State {
            var nextPiece: UInt64 = 0
            /// Where a read came short, by the first piece of which that is true.
            var end: (piece: UInt64, byteCount: Int)?
            var isStopped = false
            var failure: SystemError?
            /// The roots in the order of the pieces; zeros where one is not done.
            var roots: [UInt8] = []

            var isOver: Bool { end != nil || isStopped || failure != nil }
        }

        private let state = Mutex(State())

        /// The next piece to hash; `nil` when no more are needed.
        func takePiece() -> UInt64? {
            state.withLock { state in
                if state.isOver { return nil }
                defer { state.nextPiece += 1 }
                return state.nextPiece
            }
        }

        /// Notes the root of a piece that has `byteCount` bytes; `nil` for one of none.
        func finish(_ piece: UInt64, root: [UInt8]?, byteCount: Int) {
            state.withLock { state in
                if byteCount < pieceByteCount, state.end.map({ piece < $0.piece }) ?? true {
                    state.end = (piece, byteCount)
                }
                guard let root else { return }
                let start = Int(piece) * digestByteCount
                let missing = start + digestByteCount - state.roots.count
                if missing > 0 { state.roots += [UInt8](repeating: 0, count: missing) }
                state.roots.replaceSubrange(start..<start + digestByteCount, with: root)
            }
        }

        func stop() { state.withLock { $0.isStopped = true } }

        func fail(_ error: SystemError) {
            state.withLock { $0.failure = $0.failure ?? error }
        }

        /// The result, once all threads came back; `nil` where they were stopped.
        func summary() throws(SystemError) -> Summary? {
            let state = state.withLock { $0 }
            if let failure = state.failure { throw failure }
            // Once stopped, a piece before the end may be missing.
            guard let end = state.end, !state.isStopped else { return nil }
            let length = end.piece * UInt64(pieceByteCount) + UInt64(end.byteCount)
            // A file that grew meanwhile may have pieces beyond its end.
            let layer = Array(state.roots.prefix(Int(pieceCount(length: length)) * digestByteCount))
            switch pieceCount(length: length) {
            case 0: return Summary(id: emptyID, byteCount: 0, layer: [])
            case 1: return Summary(id: layer, byteCount: length, layer: [])
            default: return Summary(layer: layer, byteCount: length)
            }
        }
    }
}
