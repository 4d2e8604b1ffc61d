import ChuteSystem

extension PieceTree {
    /// Hashes open files, with two threads where one would take long.
    ///
    /// Keeps one piece of memory and its contexts from file to file. Not `Sendable`: whoever
    /// hashes owns one, on a thread that may block.
    final class FileHasher {
        /// From this length on a second thread pays.
        static let lengthForTwoThreads: UInt64 = 16 * 1024 * 1024

        private let worker = Worker()

        /// Reads `file` from its start to its end and hashes it; `nil` where `shouldStop` said so.
        ///
        /// `expectedLength` only decides on the second thread: what counts is where the file ends
        /// when it is read, and `byteCount` of the result says where that was. A file that is
        /// written meanwhile gives the hash of bytes that it may never have had together: compare
        /// its fingerprint before and after. `shouldStop` is asked before each piece, from either
        /// thread. Does not move the descriptor's position. Blocks.
        func summary(
            of file: borrowing FileDescriptor, expectedLength: UInt64,
            shouldStop: @Sendable () -> Bool = { false }
        ) throws(SystemError) -> Summary? {
            let progress = Progress()
            if expectedLength < Self.lengthForTwoThreads {
                worker.hash(file, progress, shouldStop)
            } else {
                // Unsafe only to the compiler: one iteration alone uses it, and this waits for both.
                nonisolated(unsafe) let first = worker
                performTogether(2) { index in
                    // The second one's memory goes with it: a big file pays for it.
                    (index == 0 ? first : Worker()).hash(file, progress, shouldStop)
                }
            }
            return try progress.summary()
        }
    }

    /// One thread's memory: a piece's bytes and what hashes them.
    private final class Worker {
        private let hasher = PieceHasher()
        private let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: pieceByteCount, alignment: 4096)

        deinit { buffer.deallocate() }

        /// Takes piece after piece until the file ends or another thread is at the end.
        func hash(
            _ file: borrowing FileDescriptor, _ progress: Progress,
            _ shouldStop: () -> Bool
        ) {
            while let piece = progress.takePiece() {
                if shouldStop() { return progress.stop() }
                let start = piece * UInt64(pieceByteCount)
                do throws(SystemError) {
                    let count = try file.read(into: buffer, at: start)
                    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    let root =
                        count == 0
                        ? nil
                        : hasher.pieceRoot(
                            of: bytes, fileLength: start + UInt64(count), piece: piece)
                    progress.finish(piece, root: root, byteCount: count)
                } catch {
                    return progress.fail(error)
                }
            }
        }
    }
}
