import ChuteSystem
import Glibc

/// Garbage collection: of this folder alone.
extension BlobFolder {
    /// How long an attachment that no document names stays, from when it was taken in or used.
    static let grace = Duration.seconds(3600)
    /// How long a part of an attachment waits for the next fetch.
    private static let partialLifetime = Duration.seconds(24 * 3600)
    /// So many are removed with one transaction.
    private static let groupCount = 128
    private static let pause = Duration.seconds(600)

    /// Collects now and then until cancelled. What fails is said, and tried again.
    func upkeep() async throws {
        while true {
            try await Task.pause(for: Self.pause, tolerance: .seconds(120))
            do {
                try await collectRelays()
                _ = try await collectGarbage(grace: Self.grace)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                diagnostics.warning("attachments that nothing names stay for now: \(error)")
            }
        }
    }

    /// Removes attachments that nothing here needs any more, and what else is left over.
    ///
    /// `includesRows` also looks for rows that nothing is about, which reads all changes.
    func collectGarbage(
        grace: Duration, dryRun: Bool = false, includesRows: Bool = false
    ) async throws -> GarbageReport {
        var report = GarbageReport()
        let root = root
        if !dryRun { try await store.write { try $0.unpinNamed() } }
        let candidates = try await reader.read { try $0.unreferencedBlobs(inRoot: root) }
            .filter { isOver($0.attachment, grace) }
        for group in candidates.groups(of: Self.groupCount) {
            let removed = dryRun ? group : try await remove(group, grace: grace)
            report.attachments += removed.map(\.attachment)
        }
        for stray in try await collectStrays(grace: grace, dryRun: dryRun) {
            report.attachments.append(stray)
        }
        report.byteCount = report.attachments.reduce(0) { $0 + $1.byteCount }
        report.partialCount = try await collectPartials(dryRun: dryRun)
        guard includesRows, !dryRun else { return report }
        report.rowCount = try await store.write {
            try $0.removeUnusedLayers() + $0.removeUnusedBatches()
        }
        return report
    }

    /// Whether nobody uses a blob and its grace is over. What was not used in this run is judged
    /// by when its file got its name.
    private func isOver(_ attachment: AttachmentID, _ grace: Duration) -> Bool {
        if let isInUse = uses.isInUse(attachment, grace: grace) { return !isInUse }
        return age(of: BytePath(attachment.blobName)).map { $0 >= grace } ?? true
    }

    /// How long a file has had its name or its last bytes; `nil` where there is none.
    private func age(of name: BytePath) -> Duration? {
        let status: FileStatus?
        do throws(SystemError) { status = try folder.status(of: name) } catch {
            return .zero  // not to be judged now
        }
        return status.map { .nanoseconds(FileStatus.now &- $0.changed) }
    }

    /// Forgets blobs in one transaction that looks again, then unlinks them.
    private func remove(
        _ group: [Snapshot.Blob], grace: Duration
    ) async throws -> [Snapshot.Blob] {
        // In the order of their names, as every other group: two never wait for each other.
        for blob in group { await lock(blob.attachment) }
        defer { for blob in group { unlock(blob.attachment) } }
        let due = group.filter { isOver($0.attachment, grace) }
        let removed = try await store.write { transaction in
            try due.filter { try transaction.forgetIfUnreferenced($0) }
        }
        for blob in removed {
            unlink(blob.location.path)
            uses.forget(blob.attachment)
        }
        return removed
    }

    func unlink(_ name: BytePath) {
        do throws(SystemError) { try folder.remove(name) } catch {
            // It has no row any more: the next collection finds it as a stray.
            diagnostics.warning("an attachment stays on disk for now: \(error)")
        }
    }

    /// Files without a row: taken in where a document names them by now or a pin keeps them, else
    /// removed.
    private func collectStrays(grace: Duration, dryRun: Bool) async throws -> [AttachmentID] {
        let names: [BytePath]
        do throws(SystemError) { names = try folder.entries().map(\.name) } catch {
            throw ChuteError(error, "\(path) cannot be read")
        }
        let root = root
        let known = Set(
            try await reader.read { try $0.blobs(inRoot: root) }.map(\.location.path))
        var removed: [AttachmentID] = []
        for attachment in strays(names) where !known.contains(BytePath(attachment.blobName)) {
            if try await reader.read({ try $0.isKept(attachment) }) {
                if !dryRun { try await takeStray(attachment) }
                continue
            }
            guard isOver(attachment, grace) else { continue }
            if dryRun {
                removed.append(attachment)
                continue
            }
            let isRemoved = try await exclusively(attachment) {
                // Its row may have come since, or it is about to be published.
                let isKnown = try await reader.read {
                    try $0.blob(of: attachment, inRoot: root) != nil
                }
                guard !isKnown, isOver(attachment, grace) else { return false }
                unlink(BytePath(attachment.blobName))
                return true
            }
            if isRemoved { removed.append(attachment) }
        }
        return removed
    }

    /// Removes parts of fetches that nobody goes on with; how many.
    private func collectPartials(dryRun: Bool) async throws -> Int {
        let names: [BytePath]
        do throws(SystemError) {
            names = try folder.folder(at: Self.staging).entries().map(\.name)
        } catch { throw ChuteError(error, "\(path) cannot be read") }
        let root = root
        var count = 0
        for attachment in strays(names) {
            let staged = Self.stagedPath(of: attachment)
            let isNeeded = try await reader.read { snapshot in
                try snapshot.wants(inRoot: root).contains { $0.attachment == attachment }
            }
            guard !isNeeded, let age = age(of: staged), age >= Self.partialLifetime else {
                continue
            }
            count += 1
            if !dryRun { unlink(staged) }
        }
        return count
    }
}

extension Array {
    /// The elements in their order, `count` at a time.
    fileprivate func groups(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map {
            Array(self[$0..<Swift.min($0 + count, self.count)])
        }
    }
}
