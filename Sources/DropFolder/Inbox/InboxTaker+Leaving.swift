import ChuteKit
import ChuteSystem
import Glibc

/// What becomes of files that lie in `.chute/taken/`.
extension InboxTaker {
    /// Looks at files that lie aside and takes those that are what was shared. The others go back.
    ///
    /// `isFresh`: what is held was looked at in this run.
    func finish(
        _ records: [TakeRecord], _ aside: TakenFolder, to target: MoveTarget?,
        isFresh: Bool = true
    ) async throws {
        var verified: [TakeRecord] = []
        for record in records {
            if isAsShared(record, aside, isFresh: isFresh) {
                verified.append(record)
            } else {
                try await bringBack(record, aside)
            }
        }
        let keepers = try await keepers(of: verified.map(\.attachment))
        let leaving = try await markLeaving(verified, keepers)
        var back = verified.filter { record in !leaving.contains { $0.key == record.key } }
        var gone: [TakeRecord] = []
        for record in leaving {
            do {
                try await letGo(record, aside, target)
                gone.append(record)
            } catch let error as SystemError {
                wait(record.document, record.path, .failed("\(error)"))
                back.append(record)
            }
        }
        for record in back { try await bringBack(record, aside, isVerified: true) }
        do throws(SystemError) { if !gone.isEmpty { try aside.folder.syncNames() } } catch {
            // The next pass, or the next start, goes by their records: whatever lies aside again.
            hasUnsettled = true
            return log.warning("after_ingest: \(error)")
        }
        try await settle(gone, in: aside.inbox)
    }

    /// Whether the file aside is byte for byte what was shared, nobody writes it, and what is held
    /// for others stands.
    private func isAsShared(
        _ record: TakeRecord, _ aside: TakenFolder, isFresh: Bool
    ) -> Bool {
        do throws(SystemError) {
            let file = try aside.folder.open(record.name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            let before = try file.status()
            guard try isFree(file, record) else { return false }
            guard try digest(of: file, before.size) == record.attachment,
                FileFingerprint(try file.status()) == FileFingerprint(before)
            else {
                wait(record.document, record.path, .changed)
                return false
            }
            guard try isFree(file, record) else { return false }
            guard let held = record.held else { return true }
            guard isFresh else {
                return try stands(
                    held, record.attachment, InodeIdentity(before), in: aside.inbox) != nil
            }
            return try aside.inbox.folder.status(of: held)?.size == record.attachment.byteCount
        } catch {
            wait(record.document, record.path, .failed("\(error)"))
            return false
        }
    }

    private func isFree(
        _ file: borrowing FileDescriptor, _ record: TakeRecord
    ) throws(SystemError) -> Bool {
        switch try look(at: file, record.fingerprint) {
        case .free: return true
        case .busy: wait(record.document, record.path, .busy)
        case .unknown: wait(record.document, record.path, .unknown)
        case .changed, .missing: break
        }
        return false
    }

    /// Decides for the last time, and records of those that go that they do.
    private func markLeaving(
        _ records: [TakeRecord], _ keepers: Keepers?
    ) async throws -> [TakeRecord] {
        guard !records.isEmpty else { return [] }
        let (collection, others) = (settings.collection, others)
        return try await chute.store.write { transaction in
            let others = try others(transaction, keepers)
            return try records.compactMap { record in
                try transaction.markLeaving(record, in: collection, others)
            }
        }
    }

    private func letGo(
        _ record: TakeRecord, _ aside: TakenFolder, _ target: MoveTarget?
    ) async throws {
        guard case .move = settings.afterIngest else {
            try aside.folder.remove(record.name)
            return
        }
        guard let target, target.root.isInPlace() else {
            throw SystemError(code: ENOENT, call: "move", path: record.path)
        }
        if let copy = record.copy, try target.has(copy) {
            // A crash may have come between its name and the sync of that.
            try target.makeDurable(copy)
            try aside.folder.remove(record.name)
            return
        }
        do throws(SystemError) {
            let path = try target.move(record.name, in: aside.folder, to: record.path)
            log.debug("after_ingest: \(record.path) is \(path) in \(target.root.path)")
        } catch {
            guard error.code == EXDEV else { throw error }
            try await copyOver(record, aside, target)
        }
    }

    /// Moves a file to another file system: a hidden copy that is checked and synced, its name,
    /// and only then the end of the original.
    private func copyOver(
        _ record: TakeRecord, _ aside: TakenFolder, _ target: MoveTarget
    ) async throws {
        let file = try aside.folder.open(record.name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let copy = try target.stage(file, as: record.name)
        let moved: MovedCopy
        do {
            guard try digest(of: copy, record.attachment.byteCount) == record.attachment else {
                throw SystemError(code: EIO, call: "copy", path: record.path)
            }
            moved = try await name(copy, record, target)
        } catch {
            try target.discard(record.name)
            throw error
        }
        do throws(SystemError) {
            try target.makeDurable(moved)
            try aside.folder.remove(record.name)
        } catch {
            // The original goes back to its name: with the copy there would be two, and one more
            // after each attempt.
            try target.takeBack(moved)
            throw error
        }
    }

    /// Gives a staged copy the first free name. It is recorded before it has that: after a crash
    /// it is not copied twice.
    private func name(
        _ copy: borrowing FileDescriptor, _ record: TakeRecord, _ target: MoveTarget
    ) async throws -> MovedCopy {
        let identity = InodeIdentity(try copy.status())
        var number = 1
        while true {
            let moved = MovedCopy(
                path: try target.freeName(for: record.path, from: &number), identity: identity)
            var noted = record
            noted.copy = moved
            try await chute.store.write { [noted] in try $0.put(noted) }
            if try target.publish(record.name, to: moved.path) { return moved }
        }
    }
}

extension Transaction {
    /// Marks the row of a file that lies aside, as what it was decided on, and its record; `nil`
    /// where it is to stay.
    fileprivate func markLeaving(
        _ record: TakeRecord, in collection: String,
        _ others: (OwnedDocument) throws -> [TakeDecision.Other]
    ) throws -> TakeRecord? {
        guard let document = try self.document(record.document, in: collection),
            document.versionID == record.version
        else { return nil }
        let facts = TakeDecision.Facts(
            isCurrent: isCurrent(document, record.attachment), others: try others(document))
        guard case .take(let needsHeld) = TakeDecision.of(facts) else { return nil }
        let rows = try self.rows(
            InboxRecord.self, where: "document", is: record.document.bytes, limit: 16)
        // Its name may belong to another document by now; it may not have another name.
        guard rows.allSatisfy({ $0.root == record.root && $0.path == record.path }) else {
            return nil
        }
        if needsHeld, record.attachment.byteCount > 0 {
            guard let held = record.held,
                try rows.contains(where: { $0.held == held })
                    || self.row(OrphanRecord.self, folderKey(record.root, held)) != nil
            else { return nil }
        }
        for var row in rows {
            guard row.attachment == record.attachment else { return nil }
            row.isTaken = true
            row.wasSeenAbsent = true
            try put(row)
            try removeLocation(root: record.root, path: record.path)
        }
        var leaving = record
        leaving.stage = .leaving
        try put(leaving)
        return leaving
    }
}
