import ChuteSystem

/// The Merkle tree that names an attachment: BitTorrent v2's (BEP 52) over SHA-256.
///
/// The leaves are blocks of 16 KiB; what is missing to a power of two are leaves of 32 zero
/// bytes. A file of up to one piece (1 MiB) has a tree of its own size; a longer one consists of
/// full pieces, whose roots are the *piece layer*. The root is the id. It tells nothing about
/// the length (the two children of a root, as a file of 64 bytes, have that root), so that an
/// identity is always the pair of id and length. The empty file, which BEP 52 leaves out, has
/// the SHA-256 of nothing.
///
/// A piece layer is written as its roots, one after the other; that of a file of one piece is
/// empty, because its root is the id.
enum PieceTree {
    static let leafByteCount = 16 * 1024
    static let pieceByteCount = 1024 * 1024
    static let leavesPerPiece = pieceByteCount / leafByteCount
    static let digestByteCount = SHA256.byteCount

    /// The identity of some bytes, and the layer that its pieces are checked against.
    struct Summary: Hashable, Sendable {
        /// The root of the tree.
        let id: [UInt8]
        /// How many bytes were hashed.
        let byteCount: UInt64
        /// The roots of all pieces, joined; empty for up to one piece.
        let layer: [UInt8]
    }

    /// The id of the empty file.
    static let emptyID = SHA256.hash([])

    /// How many pieces a file of `length` bytes has; the empty file has none.
    static func pieceCount(length: UInt64) -> UInt64 {
        let (pieces, rest) = length.quotientAndRemainder(dividingBy: UInt64(pieceByteCount))
        return rest == 0 ? pieces : pieces + 1
    }

    /// How many bytes piece `piece` has; 0 where there is no such piece.
    static func byteCount(ofPiece piece: UInt64, length: UInt64) -> Int {
        guard piece < pieceCount(length: length) else { return 0 }
        return Int(min(length - piece * UInt64(pieceByteCount), UInt64(pieceByteCount)))
    }

    /// How long the layer of a file of `length` bytes is; `nil` where no array can hold it.
    static func layerByteCount(length: UInt64) -> Int? {
        let pieces = pieceCount(length: length)
        return pieces <= 1 ? 0 : Int(exactly: pieces * UInt64(digestByteCount))
    }

    /// The id of a file of `length` bytes with this layer.
    ///
    /// `nil` where the layer is not of the length that belongs to such a file, and where that is
    /// empty: a file of up to one piece is named by its bytes.
    static func root(ofPieceLayer layer: [UInt8], fileLength length: UInt64) -> [UInt8]? {
        guard !layer.isEmpty, layerByteCount(length: length) == layer.count else { return nil }
        let hasher = SHA256()
        var nodes = layer
        return nodes.withUnsafeMutableBytes { nodes in
            reduce(nodes, count: nodes.count / digestByteCount, padding: emptyPieceRoot, hasher)
            return Array(nodes.prefix(digestByteCount))
        }
    }

    /// Whether `layer` is the piece layer of the file (`id`, `length`); all may come from a peer.
    ///
    /// The layer of a file of up to one piece is empty, and says nothing.
    static func isPieceLayer(_ layer: [UInt8], ofID id: [UInt8], length: UInt64) -> Bool {
        if layerByteCount(length: length) == 0 { return layer.isEmpty }
        return root(ofPieceLayer: layer, fileLength: length) == id
    }

    /// What piece `piece` of the file (`id`, `length`) must hash to; `layer` was checked.
    ///
    /// `nil` where there is no such piece.
    static func expectedRoot(
        ofPiece piece: UInt64, layer: [UInt8], id: [UInt8], length: UInt64
    ) -> [UInt8]? {
        let pieces = pieceCount(length: length)
        guard piece < pieces else { return nil }
        if pieces == 1 { return id }
        guard layerByteCount(length: length) == layer.count else { return nil }
        let start = Int(piece) * digestByteCount
        return Array(layer[start..<start + digestByteCount])
    }

    /// The root of 64 leaves of zeros: what pads a piece layer.
    private static let emptyPieceRoot: [UInt8] = {
        var nodes = [UInt8](repeating: 0, count: leavesPerPiece * digestByteCount)
        nodes.withUnsafeMutableBytes {
            reduce($0, count: leavesPerPiece, padding: zeroLeaf, SHA256())
        }
        return Array(nodes.prefix(digestByteCount))
    }()

    /// What stands for a leaf that is not there.
    static let zeroLeaf = [UInt8](repeating: 0, count: digestByteCount)

    /// Hashes the `count` digests at the start of `nodes` to their root, in place.
    ///
    /// The root is left in the first 32 bytes. The last node of a level without a sibling is
    /// paired with `padding`, which grows along with the levels; that is the same as padding to
    /// a power of two.
    static func reduce(
        _ nodes: UnsafeMutableRawBufferPointer, count: Int, padding: [UInt8], _ hasher: SHA256
    ) {
        var (count, padding) = (count, padding)
        while count > 1 {
            let isOdd = count % 2 == 1
            for pair in 0..<count / 2 {
                let start = pair * 2 * digestByteCount
                hasher.update(
                    UnsafeRawBufferPointer(rebasing: nodes[start..<start + 2 * digestByteCount]))
                hasher.finish(into: node(pair, in: nodes))
            }
            if isOdd {
                hasher.update(UnsafeRawBufferPointer(node(count - 1, in: nodes)))
                hasher.update(padding)
                hasher.finish(into: node(count / 2, in: nodes))
            }
            count = (count + 1) / 2
            if count > 1 {
                hasher.update(padding)
                hasher.update(padding)
                padding = hasher.finish()
            }
        }
    }

    private static func node(
        _ index: Int, in nodes: UnsafeMutableRawBufferPointer
    ) -> UnsafeMutableRawBufferPointer {
        let start = index * digestByteCount
        return UnsafeMutableRawBufferPointer(rebasing: nodes[start..<start + digestByteCount])
    }
}
