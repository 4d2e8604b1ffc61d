import ChuteSystem
import Glibc

/// Taking in bytes.
extension BlobFolder {
    /// So often a file that is changed while it is read is read again.
    private static let attemptCount = 3
    private static let chunkByteCount = 1 << 20

    /// Takes in a file, durable when this returns.
    ///
    /// Throws `notFound`, `permission`, `notRegularFile`, `noSpace`, `overQuota`, `changing`, or
    /// `CancellationError`; then nothing was taken in, and the file is as it was.
    func take(_ source: BytePath, mode: AttachmentImportMode) async throws -> AttachmentID {
        guard !source.isEmpty, !source.bytes.contains(0) else {
            throw ChuteError(.invalid, "\"\(source)\" is no path of a file")
        }
        let file = try describing("\(source) cannot be taken in") { () throws(SystemError) in
            try FileDescriptor.open(source, FileDescriptor.readOnly)
        }
        if mode == .move { try checkIsNotOwn(source) }
        for _ in 0..<Self.attemptCount {
            let before = try regularStatus(of: file, source)
            try await checkRoom(for: before.size)
            let number = try begin()
            defer { abandon(number) }
            if try mode != .reflink || !share(file, into: number) {
                var offset: UInt64 = 0
                while true {
                    let bytes = try describing("\(source) cannot be read") {
                        () throws(SystemError) in
                        try file.read(count: Self.chunkByteCount, at: offset)
                    }
                    if bytes.isEmpty { break }
                    try append(bytes, to: number)
                    offset += UInt64(bytes.count)
                    // Others take in, and are collected, meanwhile.
                    await Task.yield()
                    try Task.checkCancellation()
                }
            }
            let after = FileFingerprint(try regularStatus(of: file, source))
            guard after == FileFingerprint(before), incoming[number]?.byteCount == after.size
            else { continue }
            let attachment = try await finish(number, pinning: mode == .move)
            if mode == .move { try remove(source, file, ifStill: after) }
            return attachment
        }
        throw ChuteError(
            .changing, "\(source) is being written: it changed each time while it was read",
            isTransient: true)
    }

    private func regularStatus(
        of file: borrowing FileDescriptor, _ path: BytePath
    ) throws -> FileStatus {
        let status: FileStatus
        do throws(SystemError) { status = try file.status() } catch {
            throw ChuteError(error, "\(path) cannot be read")
        }
        guard status.kind == .regular else {
            throw ChuteError(
                .notRegularFile,
                "\(path) is no regular file: only the bytes of files can be taken in")
        }
        return status
    }

    /// Makes room for bytes; `finish` or `abandon` ends it.
    func begin() throws -> UInt64 {
        let number = newNumber()
        let name = Self.staging.appending(
            "in-" + Hexadecimal.text(SecretBytes.random(count: 8)))
        let file = try describing("\(path) cannot be written") { () throws(SystemError) in
            try folder.open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, mode: 0o600)
        }
        incoming[number] = IncomingBlob(name: name, file: file)
        return number
    }

    /// Writes the next bytes. Throws `noSpace` or `overQuota`.
    func append(_ bytes: [UInt8], to number: UInt64) throws {
        guard let blob = incoming[number] else { throw Self.isOver }
        if let byteLimit, blob.byteCount + UInt64(bytes.count) > byteLimit {
            throw ChuteError(
                .overQuota,
                "an attachment of more than the \(byteLimit) bytes that this engine "
                    + "may keep")
        }
        do throws(SystemError) { try blob.append(bytes) } catch {
            throw ChuteError(error, "the bytes of an attachment cannot be written to \(path)")
        }
    }

    /// Removes what was written; nothing where it is finished.
    func abandon(_ number: UInt64) {
        guard let blob = incoming.removeValue(forKey: number) else { return }
        do throws(SystemError) { try folder.remove(blob.name) } catch {
            diagnostics.warning("a staged attachment stays until the next start: \(error)")
        }
    }

    /// Shares the blocks of a file, where the file system can; then they are hashed here.
    private func share(
        _ source: borrowing FileDescriptor, into number: UInt64
    ) throws -> Bool {
        guard let blob = incoming[number], blob.file.canClone(source) else { return false }
        let summary: PieceTree.Summary?
        do throws(SystemError) {
            summary = try hasher.summary(
                of: blob.file, expectedLength: try blob.file.status().size,
                shouldStop: { Task.isCancelled })
        } catch { throw ChuteError(error, "a shared file cannot be read again") }
        guard let summary else { throw CancellationError() }
        blob.fill(summary)
        return true
    }

    /// Gives the bytes their name; durable when this returns.
    func finish(_ number: UInt64, pinning: Bool = false) async throws -> AttachmentID {
        // It stays among the incoming until it is recorded: it counts for the limit.
        guard let blob = incoming[number], let summary = blob.finish() else { throw Self.isOver }
        guard let digest = Digest(bytes: summary.id),
            let attachment = AttachmentID(digest: digest, byteCount: summary.byteCount)
        else { throw ChuteError(.tooLarge, "an attachment of over 2^53 bytes") }
        try await checkRoom(for: 0)
        do throws(SystemError) { try blob.file.syncData() } catch {
            throw ChuteError(error, "the bytes of an attachment cannot be written to \(path)")
        }
        try await publish(blob.name, attachment, layer: summary.layer, pinning: pinning)
        abandon(number)  // nothing is there, or what was there already
        return attachment
    }

    private static var isOver: ChuteError {
        ChuteError(.invalid, "the attachment was finished or given up already")
    }

    /// Gives synced bytes their name, and records that they are here.
    func publish(
        _ staged: BytePath, _ attachment: AttachmentID, layer: [UInt8], pinning: Bool = false,
        isRelay: Bool = false
    ) async throws {
        uses.touch(attachment)
        try await exclusively(attachment) {
            let root = root
            let name = BytePath(attachment.blobName)
            let fingerprint: [UInt8]
            do throws(SystemError) {
                // In the place of what may be there: that was hashed a while ago, this was now.
                try folder.rename(staged, to: name)
                try folder.sync()
                guard let status = try folder.status(of: name) else {
                    throw SystemError(code: ENOENT, call: "statx", path: name)
                }
                fingerprint = FileFingerprint(status).encoded
            } catch {
                throw ChuteError(error, "an attachment cannot be put into \(path)")
            }
            try await store.write { transaction in
                try transaction.addLocation(
                    Location(root: root, path: name, fingerprint: fingerprint, isOwned: true),
                    of: attachment, layer: layer)
                try transaction.unwant(attachment, inRoot: root)
                if isRelay {
                    return try transaction.put(
                        RelayRecord(attachment: attachment, used: RelayTable.now))
                }
                try transaction.remove(RelayRecord.self, RelayRecord.key(attachment))
                try transaction.acknowledge(attachment)
                if pinning { try transaction.pin(attachment, .movedIn) }
            }
            relays.with { ledger in
                if isRelay {
                    ledger.came(attachment, now: RelayTable.now)
                } else {
                    ledger.remove(attachment)
                }
            }
        }
    }
}

extension BlobFolder {
    /// Takes in bytes as they come, durable when this returns.
    ///
    /// The next chunk is asked for when the last one is written. Throws `noSpace`, `overQuota`,
    /// `CancellationError`, and what the sequence throws; then nothing was taken in.
    nonisolated func take<Chunks: AsyncSequence>(
        _ chunks: Chunks
    ) async throws -> AttachmentID where Chunks.Element == [UInt8] {
        let number = try await begin()
        do {
            for try await chunk in chunks {
                try Task.checkCancellation()
                try await append(chunk, to: number)
            }
            // A sequence may end early because its reader was cancelled.
            try Task.checkCancellation()
            return try await finish(number)
        } catch {
            await abandon(number)
            throw error
        }
    }

    /// Takes in bytes, durable when this returns. Throws `noSpace` or `overQuota`.
    func take(_ bytes: [UInt8]) async throws -> AttachmentID {
        try await checkRoom(for: UInt64(bytes.count))
        let number = try begin()
        defer { abandon(number) }
        try append(bytes, to: number)
        return try await finish(number)
    }
}
