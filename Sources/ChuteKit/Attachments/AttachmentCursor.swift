/// Reads an attachment piece by piece, going on with another file where one turns out wrong.
struct AttachmentCursor {
    private let attachment: AttachmentID
    private let reader: BlobReader
    private var piece: UInt64 = 0
    private var blob: OpenBlob?
    private var tried: Set<Location> = []

    init(_ attachment: AttachmentID, reader: BlobReader) {
        self.attachment = attachment
        self.reader = reader
    }

    /// The next bytes, at most a mebibyte; `nil` at the end. Throws `absent` where no file on
    /// this device has them.
    mutating func next() async throws -> [UInt8]? {
        guard piece < PieceTree.pieceCount(length: attachment.byteCount) else { return nil }
        while true {
            if blob == nil { blob = try await reader.open(attachment, except: tried) }
            guard let blob else {
                throw ChuteError(
                    .absent,
                    "the bytes of \(attachment) are not on this device any more: fetch them",
                    isTransient: true)
            }
            if let bytes = await reader.piece(piece, of: blob) {
                piece += 1
                return bytes
            }
            tried.insert(blob.location)
            self.blob = nil
        }
    }
}
