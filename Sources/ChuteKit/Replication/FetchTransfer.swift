import ChuteSystem
import Glibc

/// One attachment on its way into a staged file. Belongs to the fetcher.
final class FetchTransfer {
    let attachment: AttachmentID
    /// The first one's file is written; the others get copies of it.
    var wants: [Want]
    /// How many pieces are asked for, from the first on.
    let wantedCount: UInt64
    /// The hashes of the pieces; `nil` until known, empty for a single piece.
    var layer: [UInt8]?
    /// Pieces that came before the layer.
    var unchecked: [(piece: UInt64, buffer: PieceBuffer, peer: DeviceID)] = []
    /// Peers of which it was said that they do not have what they announced.
    var judged: Set<DeviceID> = []
    private var file: FileDescriptor?
    private var done: [UInt8]
    private(set) var doneCount: UInt64 = 0
    private(set) var doneByteCount: UInt64 = 0
    private var writtenBack: UInt64 = 0

    /// What whole pieces of a large attachment are written through.
    private(set) var direct: DirectFile?

    private static let writebackStep = UInt64(PieceTree.pieceByteCount)

    init(want: Want, layer: [UInt8]?) {
        attachment = want.attachment
        wants = [want]
        self.layer = layer
        let pieces = PieceTree.pieceCount(length: want.attachment.byteCount)
        done = Array(repeating: 0, count: Int((pieces + 7) / 8))
        wantedCount = want.part == .sample ? min(pieces, 1) : pieces
    }

    var pieceCount: UInt64 { PieceTree.pieceCount(length: attachment.byteCount) }

    /// Whether all is there that is asked for.
    var isComplete: Bool { doneCount == wantedCount }

    /// Whether there is more to the attachment than what is asked for.
    var isSample: Bool { wantedCount < pieceCount }

    func isRight(
        _ piece: UInt64, _ buffer: PieceBuffer, with hasher: PieceTree.PieceHasher
    ) -> Bool {
        let length = attachment.byteCount
        let expected = PieceTree.expectedRoot(
            ofPiece: piece, layer: layer ?? [], id: attachment.digest.bytes, length: length)
        let found = hasher.pieceRoot(
            of: UnsafeRawBufferPointer(buffer.bytes), fileLength: length, piece: piece)
        return found != nil && found == expected
    }

    func mark(_ piece: UInt64) {
        let bit = UInt8(0x80) >> UInt8(piece % 8)
        guard done[Int(piece / 8)] & bit == 0 else { return }
        done[Int(piece / 8)] |= bit
        doneCount += 1
        doneByteCount += UInt64(
            PieceTree.byteCount(ofPiece: piece, length: attachment.byteCount))
    }

    /// Makes or opens the staged file. Throws `ENOENT` where its folder is not mounted.
    func open(in roots: OpenRoots) throws(SystemError) {
        guard file == nil else { return }
        file = try roots.open(
            wants[0].path, in: wants[0].root, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o666)
        guard file != nil else {
            throw SystemError(code: ENOENT, call: "open", path: wants[0].path)
        }
    }

    /// Writes a piece where it belongs. Starts write-back as bytes gather.
    func write(_ piece: UInt64, _ buffer: PieceBuffer, in roots: OpenRoots) throws(SystemError) {
        try open(in: roots)
        let start = piece * UInt64(PieceTree.pieceByteCount)
        try file?.write(UnsafeRawBufferPointer(buffer.bytes), at: start)
        let end = start + UInt64(buffer.bytes.count)
        if end >= writtenBack + Self.writebackStep {
            file?.startWriteback(from: writtenBack, count: end - writtenBack)
            writtenBack = end
        }
    }

    /// Where a piece is to be written on another thread; `nil` where `write` is to do it.
    func directFile(
        for buffer: PieceBuffer, in roots: OpenRoots
    ) throws(SystemError) -> DirectFile? {
        guard DirectFile.takes(buffer, of: attachment) else { return nil }
        if direct == nil {
            try open(in: roots)
            if let descriptor = file?.raw { direct = try DirectFile(reopening: descriptor) }
        }
        return direct
    }

    func read(_ piece: UInt64) throws(SystemError) -> PieceBuffer {
        let buffer = PieceBuffer(
            byteCount: PieceTree.byteCount(ofPiece: piece, length: attachment.byteCount))
        let start = piece * UInt64(PieceTree.pieceByteCount)
        guard try file?.read(into: buffer.bytes, at: start) == buffer.bytes.count else {
            throw SystemError(code: EIO, call: "pread", path: wants[0].path)
        }
        return buffer
    }

    func startWriteback() {
        guard pieceCount > 1 else { return }  // a small one is written by the group's sync
        file?.startWriteback(from: 0, count: 0)
    }

    /// The pieces that the staged file of an earlier run may have, for all that is known.
    func stagedPieces(in roots: OpenRoots) -> Set<UInt64> {
        guard layer != nil || pieceCount == 1 else { return [] }
        do throws(SystemError) {
            file = try roots.open(wants[0].path, in: wants[0].root, O_RDWR | O_NONBLOCK)
        } catch {
            return []  // nothing is staged yet
        }
        let end = attachment.byteCount
        var pieces: Set<UInt64> = []
        var position: UInt64 = 0
        while position < end, let start = file?.nextData(from: position), start < end {
            let stop = min(file?.nextHole(from: start) ?? end, end)
            guard stop > start else { break }
            let size = UInt64(PieceTree.pieceByteCount)
            pieces.formUnion((start / size)...((stop - 1) / size))
            position = stop
        }
        return pieces.filter { $0 < wantedCount }
    }

    func checkStaged(
        _ piece: UInt64, in roots: OpenRoots, with hasher: PieceTree.PieceHasher
    ) -> Bool {
        do throws(SystemError) {
            return isRight(piece, try read(piece), with: hasher)
        } catch {
            return false
        }
    }

    /// What a peer that wants the same may be given; `nil` before anything can be checked.
    func staged() -> StagedBlob? {
        guard let layer, doneCount > 0 else { return nil }
        return StagedBlob(
            location: Location(
                root: wants[0].root, path: wants[0].path, fingerprint: [], isOwned: true),
            pieces: done, layer: layer)
    }
}
