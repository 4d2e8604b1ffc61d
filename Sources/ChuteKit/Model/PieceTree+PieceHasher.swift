import ChuteSystem

extension PieceTree {
    /// Hashes pieces whose bytes lie in memory, one after the other.
    ///
    /// Keeps its context and its room for 64 digests: a piece costs one small allocation. Not
    /// `Sendable`: whoever hashes owns one.
    final class PieceHasher {
        private let hasher = SHA256()
        private let leaves = UnsafeMutableRawBufferPointer.allocate(
            byteCount: leavesPerPiece * digestByteCount, alignment: 16)

        deinit { leaves.deallocate() }

        /// The root of piece `piece` of a file of `fileLength` bytes; for a file of up to one
        /// piece that is the id of the file.
        ///
        /// `nil` where `bytes` is not as long as that piece.
        func pieceRoot(
            of bytes: UnsafeRawBufferPointer, fileLength: UInt64, piece: UInt64
        ) -> [UInt8]? {
            if fileLength == 0 { return bytes.isEmpty && piece == 0 ? emptyID : nil }
            guard !bytes.isEmpty, bytes.count == byteCount(ofPiece: piece, length: fileLength)
            else { return nil }
            var count = 0
            for start in stride(from: 0, to: bytes.count, by: leafByteCount) {
                let end = min(start + leafByteCount, bytes.count)
                hasher.update(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                setLeaf(count)
                count += 1
            }
            return root(ofLeaves: count, isWholeFile: fileLength <= UInt64(pieceByteCount))
        }

        /// Adds to the leaf that is being hashed.
        func update(_ bytes: UnsafeRawBufferPointer) { hasher.update(bytes) }

        /// Ends the leaf that is being hashed, as number `index` of its piece.
        func setLeaf(_ index: Int) {
            let start = index * digestByteCount
            hasher.finish(
                into: UnsafeMutableRawBufferPointer(
                    rebasing: leaves[start..<start + digestByteCount]))
        }

        /// The root of the first `count` leaves; the piece of a longer file is padded to 64.
        func root(ofLeaves count: Int, isWholeFile: Bool) -> [UInt8] {
            var count = count
            if !isWholeFile, count < leavesPerPiece {
                let padding = leaves[count * digestByteCount..<leaves.count]
                UnsafeMutableRawBufferPointer(rebasing: padding).initializeMemory(
                    as: UInt8.self, repeating: 0)
                count = leavesPerPiece
            }
            reduce(leaves, count: count, padding: zeroLeaf, hasher)
            return Array(leaves.prefix(digestByteCount))
        }
    }
}
