import ChuteSystem
import Glibc

/// Reads attachments, out of the blob folder or out of the users' files that have them.
///
/// No wrong byte is ever given: what is not the agent's own, unchanged file is hashed piece by
/// piece before it is given.
///
/// ## Concurrency
/// An actor on a queue of its own, which reads and hashes.
actor BlobReader {
    private let executor = QueueExecutor(label: "chute.attachments")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private let reader: StoreReader
    private let roots: Roots
    private let uses: BlobUses
    private let hasher = PieceTree.PieceHasher()
    private let fileHasher = PieceTree.FileHasher()

    init(reader: StoreReader, roots: Roots, uses: BlobUses) {
        self.reader = reader
        self.roots = roots
        self.uses = uses
    }

    /// Whether all bytes are on this device: in a file of the agent's own, or in another one that
    /// is what it was or hashes to them now.
    func isHere(_ attachment: AttachmentID) async throws -> Bool {
        if attachment.byteCount == 0 { return attachment.digest.bytes == PieceTree.emptyID }
        var tried: Set<Location> = []
        while let blob = try await open(attachment, except: tried) {
            if blob.isTrusted || Self.isAsRecorded(blob) { return true }
            if try hash(blob.file, attachment.byteCount)?.id == attachment.digest.bytes {
                return true
            }
            tried.insert(blob.location)
        }
        return false
    }

    private static func isAsRecorded(_ blob: OpenBlob) -> Bool {
        do throws(SystemError) {
            return FileFingerprint(try blob.file.status()).encoded == blob.location.fingerprint
        } catch { return false }
    }

    /// Opens a file that should have the bytes, but none of `tried`; `nil` where there is none.
    func open(_ attachment: AttachmentID, except tried: Set<Location>) async throws -> OpenBlob? {
        uses.touch(attachment)
        let (locations, known) = try await reader.read { snapshot in
            (try snapshot.locations(of: attachment), try snapshot.layer(of: attachment))
        }
        let isSingle = PieceTree.pieceCount(length: attachment.byteCount) <= 1
        let roots = OpenRoots(roots)
        defer { roots.close() }
        for location in locations where !tried.contains(location) {
            let number: Int32
            let status: FileStatus
            do throws(SystemError) {
                guard
                    let file = try roots.open(
                        location.path, in: location.root, O_RDONLY | O_NONBLOCK)
                else { continue }
                status = try file.status()
                number = file.release()
            } catch { continue }  // moved or not to be read: as good as not here
            let file = FileDescriptor(owning: number)
            guard status.kind == .regular, status.size == attachment.byteCount else { continue }
            var layer = isSingle ? [] : known
            if layer == nil {
                let summary = try hash(file, attachment.byteCount)
                guard summary?.id == attachment.digest.bytes else { continue }
                layer = summary?.layer
            }
            return OpenBlob(
                attachment, at: location, file: file, layer: layer ?? [],
                isTrusted: location.isOwned
                    && FileFingerprint(status).encoded == location.fingerprint)
        }
        return nil
    }

    /// `nil` where it cannot be read. Throws `CancellationError`.
    private func hash(
        _ file: borrowing FileDescriptor, _ length: UInt64
    ) throws -> PieceTree.Summary? {
        do throws(SystemError) {
            let summary = try fileHasher.summary(
                of: file, expectedLength: length, shouldStop: { Task.isCancelled })
            if let summary { return summary }
        } catch { return nil }
        throw CancellationError()
    }

    /// The bytes of a piece; `nil` where the file does not have them any more.
    func piece(_ piece: UInt64, of blob: OpenBlob) -> [UInt8]? {
        let length = blob.attachment.byteCount
        let count = PieceTree.byteCount(ofPiece: piece, length: length)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try blob.file.read(
                count: count, at: piece * UInt64(PieceTree.pieceByteCount))
        } catch { return nil }
        guard bytes.count == count else { return nil }
        if blob.isTrusted, Self.isAsRecorded(blob) { return bytes }
        let expected = PieceTree.expectedRoot(
            ofPiece: piece, layer: blob.layer, id: blob.attachment.digest.bytes, length: length)
        let found = bytes.withUnsafeBytes {
            hasher.pieceRoot(of: $0, fileLength: length, piece: piece)
        }
        return found != nil && found == expected ? bytes : nil
    }

    /// Makes a new file of the bytes at `target`, durable when this returns. Never replaces one.
    func copy(_ attachment: AttachmentID, to target: BytePath) async throws {
        let name = target.lastComponent
        guard !name.isEmpty, !target.bytes.contains(0), ![".", ".."].contains(name) else {
            throw ChuteError(.invalid, "\"\(target)\" is no path of a file")
        }
        let what = "\(target) cannot be written"
        let parent = target.parent
        let above = try describing(what) { () throws(SystemError) in
            try Folder(at: parent.isEmpty ? "." : parent)
        }
        if try describing(what, { () throws(SystemError) in try above.status(of: name) }) != nil {
            throw ChuteError(.alreadyExists, "\(target) exists already; it was left as it is")
        }
        let staged = BytePath(".chute-" + Hexadecimal.text(SecretBytes.random(count: 8)))
        let file = try describing(what) { () throws(SystemError) in
            try above.open(staged, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK)
        }
        do {
            try await fill(file, with: attachment, what)
            try describing(what) { () throws(SystemError) in
                try file.sync()
                try above.renameExclusively(staged, to: name, in: above)
                try above.sync()
            }
        } catch {
            do throws(SystemError) { try above.remove(staged) } catch let leftover {
                throw ChuteError(
                    .file, "\(parent.appending(staged)) was left over: \(leftover)", cause: error)
            }
            throw error
        }
    }

    private func fill(
        _ file: borrowing FileDescriptor, with attachment: AttachmentID, _ what: String
    ) async throws {
        if attachment.byteCount > 0, let blob = try await open(attachment, except: []),
            blob.isTrusted, file.canClone(blob.file), Self.isAsRecorded(blob)
        {
            return
        }
        var cursor = AttachmentCursor(attachment, reader: self)
        var offset: UInt64 = 0
        while let bytes = try await cursor.next() {
            do throws(SystemError) { try file.write(bytes, at: offset) } catch {
                throw ChuteError(error, what)
            }
            offset += UInt64(bytes.count)
            try Task.checkCancellation()
        }
    }
}
