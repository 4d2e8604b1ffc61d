import ChuteSystem
import Glibc

/// A staged file that is being fetched, and which of its pieces were checked.
struct StagedBlob: Sendable {
    let location: Location
    /// One bit for each piece, the first in the highest bit.
    let pieces: [UInt8]
    let layer: [UInt8]
}

/// Reads pieces of attachments out of the files that have them.
///
/// A file that only the agent writes, and one whose fingerprint is as it was when it was
/// hashed, is read as it is. Any other is a user's: the piece is hashed before it is sent, and
/// a wrong one is as good as none. Not `Sendable`: belongs to one session. Blocks.
struct BlobServer {
    private struct Open: ~Copyable {
        let file: FileDescriptor
        let location: Location
        let layer: [UInt8]?
        var isTrusted: Bool
    }

    private final class Slot {
        var open: Open
        init(_ open: consuming Open) { self.open = open }
    }

    private let roots: OpenRoots
    private let buffers: PieceBufferPool
    private var slots: [(attachment: AttachmentID, slot: Slot)] = []
    private let hasher = PieceTree.PieceHasher()
    /// Of which a wrong piece was sent: whatever their fingerprints say.
    private var distrusted: Set<AttachmentID> = []
    private static let slotLimit = 4
    private static let distrustLimit = 1024

    init(roots: Roots, buffers: PieceBufferPool) {
        self.roots = OpenRoots(roots)
        self.buffers = buffers
    }

    /// Lets go of the folders, not of the files: for when there is nothing to serve.
    func closeRoots() { roots.close() }

    /// The bytes of a request out of a file that is open already.
    mutating func piece(_ request: PieceRequest) -> PieceBuffer? {
        guard let index = slots.firstIndex(where: { $0.attachment == request.attachment }) else {
            return nil
        }
        let piece = try? read(request, from: slots[index].slot)
        if piece == nil { slots.remove(at: index) }
        return piece
    }

    /// Opens the first of `locations` that still has the bytes of the request. `gone` are those
    /// before it that do not have them any more.
    mutating func open(
        _ attachment: AttachmentID, at locations: [Location], layer: [UInt8]?,
        for request: PieceRequest
    ) -> (piece: PieceBuffer?, gone: [Location]) {
        var gone: [Location] = []
        // Neither a place that there is not nor unknown hashes say anything about the files.
        let needsLayer = PieceTree.pieceCount(length: attachment.byteCount) > 1
        guard request.isWithinAttachment, !needsLayer || layer != nil else { return (nil, []) }
        for location in locations {
            let slot: Slot
            do throws(SystemError) {
                // A folder that is not mounted says nothing about its files.
                guard
                    let file = try roots.open(
                        location.path, in: location.root, O_RDONLY | O_NONBLOCK)
                else { continue }
                slot = Slot(
                    Open(
                        file: file, location: location, layer: layer,
                        isTrusted: !distrusted.contains(attachment)))
            } catch {
                if error.isNotFound { gone.append(location) }
                continue
            }
            let piece: PieceBuffer?
            do throws(SystemError) { piece = try read(request, from: slot) } catch {
                continue  // a disk in trouble: the file may be what it was
            }
            guard let piece else {
                gone.append(location)
                continue
            }
            slots.append((attachment, slot))
            if slots.count > Self.slotLimit { slots.removeFirst() }
            return (piece, gone)
        }
        return (nil, gone)
    }

    /// From now on the pieces of this attachment are hashed before they are sent.
    mutating func distrust(_ attachment: AttachmentID) {
        if distrusted.count >= Self.distrustLimit { distrusted = [] }
        distrusted.insert(attachment)
        for (open, slot) in slots where open == attachment { slot.open.isTrusted = false }
    }

    /// A piece of a staged file; `nil` where that piece was not checked yet.
    mutating func piece(_ request: PieceRequest, inStaged staged: StagedBlob) -> PieceBuffer? {
        guard let piece = request.piece else { return Self.buffer(of: staged.layer) }
        guard Holding(attachment: request.attachment, pieces: staged.pieces).has(piece),
            !staged.pieces.isEmpty
        else { return nil }
        let location = staged.location
        do throws(SystemError) {
            guard
                let file = try roots.open(location.path, in: location.root, O_RDONLY | O_NONBLOCK)
            else { return nil }
            let slot = Slot(
                Open(file: file, location: location, layer: staged.layer, isTrusted: false))
            return try read(request, from: slot)
        } catch {
            return nil  // as good as not here
        }
    }

    /// `nil` where the file does not have these bytes.
    private func read(
        _ request: PieceRequest, from slot: Slot
    ) throws(SystemError) -> PieceBuffer? {
        let length = request.attachment.byteCount
        guard let piece = request.piece else {
            return slot.open.layer.flatMap(Self.buffer(of:))
        }
        let count = PieceTree.byteCount(ofPiece: piece, length: length)
        guard count > 0, (0..<count).contains(request.offset) else { return nil }
        let buffer = PieceBuffer(byteCount: count, from: buffers)
        let start = piece * UInt64(PieceTree.pieceByteCount)
        guard try slot.open.file.read(into: buffer.bytes, at: start) == count else {
            return nil
        }
        let status = try slot.open.file.status()
        let isAsHashed =
            slot.open.location.isOwned && status.size == length
            || FileFingerprint(status).encoded == slot.open.location.fingerprint
        if isAsHashed, slot.open.isTrusted { return buffer }
        let expected = PieceTree.expectedRoot(
            ofPiece: piece, layer: slot.open.layer ?? [], id: request.attachment.digest.bytes,
            length: length)
        let found = hasher.pieceRoot(
            of: UnsafeRawBufferPointer(buffer.bytes), fileLength: length, piece: piece)
        return found != nil && found == expected ? buffer : nil
    }

    private static func buffer(of layer: [UInt8]) -> PieceBuffer? {
        guard !layer.isEmpty else { return nil }
        let buffer = PieceBuffer(byteCount: layer.count)
        buffer.bytes.copyBytes(from: layer)
        return buffer
    }
}
