/// Pieces of which a lost connection brought the beginning: the next one goes on from there.
struct PartialPieces {
    /// So many are kept, each with the memory of a whole piece.
    private static let limit = 8

    private var buffers: [AttachmentID: [UInt64: PieceBuffer]] = [:]

    /// Keeps the beginning of a piece while there is room; it costs nothing but time to lose it.
    mutating func keep(_ partial: Assembly) {
        guard let piece = partial.request.piece,
            buffers.values.reduce(0, { $0 + $1.count }) < Self.limit
        else { return }
        buffers[partial.request.attachment, default: [:]][piece] = partial.buffer
    }

    /// Gives away what came of a piece.
    mutating func take(_ piece: UInt64, of attachment: AttachmentID) -> PieceBuffer? {
        buffers[attachment]?.removeValue(forKey: piece)
    }

    mutating func forget(_ attachment: AttachmentID) { buffers[attachment] = nil }
}
