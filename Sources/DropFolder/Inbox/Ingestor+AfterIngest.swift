import ChuteKit
import ChuteSystem
import Glibc

/// `after_ingest`: taking away what another device has, if it still is what was shared.
///
/// The file first gets a name in `<inbox>/.chute/taken/`, where no user meets it. There it is
/// compared with the row; only then is it removed or moved. A mismatch goes back, or, where its
/// name is taken by now, beside it, and is ingested as what it is.
extension Ingestor {
    private static let takenFolder: BytePath = "taken"
    private static let pageCount = 256

    /// Acts on every document with a receipt of another device that has it and keeps it.
    func takeDelivered() async throws {
        let (root, collection) = (root, collection)
        let prefix = folderKey(root)
        var after = prefix
        while let inbox = watcher.root {
            let start = after
            let (due, end) = try await chute.reader.read { snapshot in
                let page = try snapshot.rows(InboxRecord.self, after: start, limit: Self.pageCount)
                    .prefix { $0.key.starts(with: prefix) }
                let due = try page.filter { row in
                    guard !row.isTaken, !row.wasSeenAbsent,
                        let document = try snapshot.document(row.document, in: collection),
                        document.fields.flatMap(FileDocument.init)?.attachment == row.attachment
                    else { return false }
                    return try snapshot.receipts(for: document).contains { device, receipt in
                        device != snapshot.device && receipt.state == .delivered
                            && !receipt.isRemoved
                    }
                }
                return (due, page.count == Self.pageCount ? page.last?.key : nil)
            }
            for row in due { try await take(row, in: inbox) }
            guard let end else { return }
            after = end
        }
    }

    private func take(_ row: InboxRecord, in inbox: InboxRoot) async throws {
        do throws(SystemError) {
            guard let taken = try setAside(row, in: inbox) else { return }
            // Recorded before it goes: after a crash it is a name that stood empty.
            try await markTaken(row)
            try finish(taken, row, in: inbox)
        } catch {
            log.warning("\(row.path) stays in the inbox: \(error)")
        }
    }

    /// Renames the file aside and looks at it there; `nil` where it is not what was shared.
    private func setAside(
        _ row: InboxRecord, in inbox: InboxRoot
    ) throws(SystemError) -> BytePath? {
        let folder = try takenFolder(in: inbox)
        let parent = try inbox.folder.folder(at: row.path.parent)
        let name = BytePath("\(row.document.description.prefix(32))")
        do throws(SystemError) {
            try parent.renameExclusively(row.path.lastComponent, to: name, in: folder)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
        let file = try folder.open(name, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        let isAsShared =
            status.kind == .regular
            && FileFingerprint(status).hasSameContentTimes(as: row.fingerprint)
        if isAsShared, LeaseState.probe(file) != .busy { return name }
        try putBack(name, row.path, folder, in: inbox)
        return nil
    }

    private func putBack(
        _ name: BytePath, _ path: BytePath, _ folder: borrowing Folder, in inbox: InboxRoot
    ) throws(SystemError) {
        let parent = try inbox.folder.folder(at: path.parent)
        var number = 1
        while true {
            let candidate = BytePath(
                bytes: OutboxNaming.candidate(path.lastComponent.bytes, number))
            do throws(SystemError) {
                return try folder.renameExclusively(name, to: candidate, in: parent)
            } catch {
                guard error.exists else { throw error }
                number += 1
            }
        }
    }

    private func markTaken(_ row: InboxRecord) async throws(SystemError) {
        do {
            try await chute.store.write { transaction in
                guard var known = try transaction.row(InboxRecord.self, row.key) else { return }
                known.isTaken = true
                known.wasSeenAbsent = true
                try transaction.put(known)
                try transaction.removeLocation(root: row.root, path: row.path)
            }
        } catch {
            throw SystemError(code: EIO, call: "record", path: row.path)
        }
    }

    private func finish(
        _ name: BytePath, _ row: InboxRecord, in inbox: InboxRoot
    ) throws(SystemError) {
        let folder = try takenFolder(in: inbox)
        guard case .move(let target) = afterIngest else {
            try folder.remove(name)
            return
        }
        let destination = target.appending(row.path.parent)
        try Folder.make(destination)
        let parent = try Folder(at: destination)
        var number = 1
        while true {
            let candidate = BytePath(
                bytes: OutboxNaming.candidate(row.path.lastComponent.bytes, number))
            do throws(SystemError) {
                try folder.renameExclusively(name, to: candidate, in: parent)
                return try parent.sync()
            } catch {
                guard error.exists else { throw error }
                number += 1
            }
        }
    }

    private func takenFolder(in inbox: InboxRoot) throws(SystemError) -> Folder {
        let own = try inbox.folder.folder(at: InboxFilter.ownFolder)
        if try own.makeFolder(Self.takenFolder, mode: 0o700) { try own.sync() }
        return try own.folder(at: Self.takenFolder)
    }

    /// At the start: what a crash left aside goes back to its name, to be looked at anew.
    func returnTaken() async throws {
        guard afterIngest != .keep, let inbox = watcher.root else { return }
        let prefix = folderKey(root)
        let names = try takenFolder(in: inbox).entries().map(\.name)
        guard !names.isEmpty else { return }
        let rows = try await chute.reader.read { snapshot in
            try snapshot.rows(InboxRecord.self, after: prefix).prefix {
                $0.key.starts(with: prefix)
            }
        }
        for name in names {
            let row = rows.first { BytePath("\($0.document.description.prefix(32))") == name }
            guard let row else { continue }
            if row.isTaken {
                try finish(name, row, in: inbox)
            } else {
                try putBack(name, row.path, try takenFolder(in: inbox), in: inbox)
            }
        }
    }
}
