import ChuteSystem

extension PieceTree {
    /// Hashes bytes as they come, in portions of any size.
    ///
    /// Holds the digests of one piece and the layer (32 bytes for each MiB), never the bytes.
    struct StreamHasher: ~Copyable {
        private let hasher = PieceHasher()
        private var byteCount: UInt64 = 0
        /// The leaves of the current piece that are done.
        private var leafCount = 0
        private var bytesInLeaf = 0
        private var layer: [UInt8] = []

        /// Takes the next bytes.
        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            var rest = bytes[...]
            while !rest.isEmpty {
                // A full piece is closed when more comes: only then is it not the whole file.
                if leafCount == leavesPerPiece { closePiece() }
                let portion = rest.prefix(leafByteCount - bytesInLeaf)
                hasher.update(UnsafeRawBufferPointer(rebasing: portion))
                bytesInLeaf += portion.count
                byteCount += UInt64(portion.count)
                rest = rest.dropFirst(portion.count)
                if bytesInLeaf == leafByteCount { closeLeaf() }
            }
        }

        /// What the bytes hash to.
        consuming func finish() -> Summary {
            if byteCount == 0 { return Summary(id: emptyID, byteCount: 0, layer: []) }
            if bytesInLeaf > 0 { closeLeaf() }
            if byteCount <= UInt64(pieceByteCount) {
                let id = hasher.root(ofLeaves: leafCount, isWholeFile: true)
                return Summary(id: id, byteCount: byteCount, layer: [])
            }
            closePiece()
            return Summary(layer: layer, byteCount: byteCount)
        }

        private mutating func closeLeaf() {
            hasher.setLeaf(leafCount)
            leafCount += 1
            bytesInLeaf = 0
        }

        private mutating func closePiece() {
            layer += hasher.root(ofLeaves: leafCount, isWholeFile: false)
            leafCount = 0
        }
    }
}

extension PieceTree.Summary {
    /// The summary of a file of more than one piece, whose layer was just made for this length.
    init(layer: [UInt8], byteCount: UInt64) {
        guard let id = PieceTree.root(ofPieceLayer: layer, fileLength: byteCount) else {
            preconditionFailure("a layer of another length")
        }
        self.init(id: id, byteCount: byteCount, layer: layer)
    }
}
