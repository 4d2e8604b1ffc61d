import ChuteKit
import ChuteSystem
import Glibc

/// Bringing what is on its way to an end, and back where it cannot go on.
extension InboxTaker {
    /// Deals with all that lies aside, and with every record of it. `false` where something could
    /// not be: then it is tried again.
    func recover(in inbox: InboxRoot) async throws -> Bool {
        strandedNote = nil
        let prefix = folderKey(settings.root)
        let records = try await chute.store.read { snapshot in
            try snapshot.rows(TakeRecord.self, after: prefix).prefix {
                $0.key.starts(with: prefix)
            }
        }
        let aside: TakenFolder
        let names: [BytePath]
        do throws(SystemError) {
            guard let folder = try TakenFolder(in: inbox, isMaking: !records.isEmpty) else {
                return true
            }
            aside = folder
            names = try aside.folder.entries().map(\.name)
        } catch {
            log.warning("after_ingest: what lies aside was not looked through: \(error)")
            return records.isEmpty
        }
        var target: MoveTarget?
        if isActing, !records.isEmpty, case .move(let path) = settings.afterIngest {
            target = try await openTarget(path)
        }
        for record in records { try await recover(record, aside, target) }
        let known = Set(records.map(\.name))
        for name in names where !known.contains(name) { returnUnknown(name, aside) }
        return strandedNote == nil
    }

    private func recover(
        _ record: TakeRecord, _ aside: TakenFolder, _ target: MoveTarget?
    ) async throws {
        var canGo = isActing
        if case .move = settings.afterIngest, target == nil { canGo = false }
        guard canGo, way(of: record, aside) == .resume else {
            return try await bringBack(record, aside)
        }
        try await finish([record], aside, to: target, isFresh: false)
    }

    private func way(of record: TakeRecord, _ aside: TakenFolder) -> TakeRecovery? {
        do throws(SystemError) {
            return TakeRecovery.of(
                isLeaving: record.stage == .leaving,
                aside: try aside.folder.status(of: record.name).map { InodeIdentity($0) },
                inPlace: try aside.inbox.folder.status(of: record.path).map { InodeIdentity($0) },
                expected: InodeIdentity(
                    inode: record.fingerprint.inode, birth: record.fingerprint.birth))
        } catch {
            strand(record.path, error)
            return nil
        }
    }

    private func strand(_ path: BytePath, _ error: SystemError) {
        strandedNote =
            "\(path) lies in \(settings.inbox.appending(TakenFolder.path)) and cannot be put "
            + "back: \(error)"
        log.warning("after_ingest: \(strandedNote ?? "")")
    }

    /// Gives a file that does not go its name back, and its row what it said before.
    ///
    /// `isVerified`: it was hashed, so that the row can have its new times at once.
    func bringBack(
        _ record: TakeRecord, _ aside: TakenFolder, isVerified: Bool = false
    ) async throws {
        guard let state = way(of: record, aside) else { return }
        switch state {
        case .forget: try await forget([record])
        case .done:
            do throws(SystemError) { try aside.folder.syncNames() } catch {
                hasUnsettled = true
                return log.warning("after_ingest: \(error)")
            }
            try await settle([record], in: aside.inbox)
        case .restore: try await restore(record, at: record.path, in: aside.inbox)
        case .resume, .dropSecondName:
            let path: BytePath
            do throws(SystemError) {
                path = try aside.putBack(record.name, to: record.path)
            } catch {
                return strand(record.path, error)
            }
            if path != record.path { log.notice("after_ingest: \(record.path) is \(path) now") }
            try await restore(record, at: path, in: aside.inbox, isVerified: isVerified)
        }
    }

    /// What lies aside and is in no record, as after a store was put back from a copy.
    private func returnUnknown(_ name: BytePath, _ aside: TakenFolder) {
        let own = TakenFolder.ownName(of: name)
        do throws(SystemError) {
            let path = try aside.putBack(name, to: own.isEmpty ? name : own)
            log.notice("after_ingest: \(name), which no row knows, is \(path) now")
        } catch {
            strand(name, error)
        }
    }

    /// The file is back: its row says so, with the fingerprint that our own renames moved where
    /// that is known to be of the same bytes. Otherwise it is hashed again.
    private func restore(
        _ record: TakeRecord, at path: BytePath, in inbox: InboxRoot, isVerified: Bool = false
    ) async throws {
        var print: FileFingerprint?
        do throws(SystemError) {
            print = try inbox.folder.status(of: path).map { FileFingerprint($0) }
        } catch {
            log.debug("after_ingest: \(error)")
        }
        let found = print
        try await chute.store.write { transaction in
            try transaction.remove(TakeRecord.self, record.key)
            guard
                var row = try transaction.row(
                    InboxRecord.self, folderKey(record.root, record.path)),
                row.document == record.document, row.attachment == record.attachment
            else { return }
            row.isTaken = false
            row.wasSeenAbsent = path != record.path
            if path == record.path, let found, found.hasSameContentTimes(as: row.fingerprint) {
                if isVerified { row.fingerprint = found }
                if row.held == nil {
                    try transaction.addLocation(
                        Location(
                            root: record.root, path: path, fingerprint: row.fingerprint.encoded,
                            isOwned: false), of: row.attachment)
                }
            }
            try transaction.put(row)
        }
    }

    /// Nothing became of it.
    func forget(_ records: [TakeRecord]) async throws {
        guard !records.isEmpty else { return }
        try await chute.store.write(durable: .withNext) { transaction in
            for record in records { try transaction.remove(TakeRecord.self, record.key) }
        }
    }

    /// They have left. What is held of them, where it is the same file under its second name, has
    /// the fingerprint that our own unlink moved.
    func settle(_ records: [TakeRecord], in inbox: InboxRoot) async throws {
        guard !records.isEmpty else { return }
        var prints: [BytePath: FileFingerprint] = [:]
        for record in records {
            guard let held = record.held, let status = try? inbox.folder.status(of: held),
                FileFingerprint(status).hasSameContentTimes(as: record.fingerprint)
            else { continue }
            prints[held] = FileFingerprint(status)
        }
        let fresh = prints
        try await chute.store.write(durable: .withNext) { transaction in
            for record in records {
                try transaction.remove(TakeRecord.self, record.key)
                guard let held = record.held, let print = fresh[held],
                    try transaction.locations(of: record.attachment).contains(where: {
                        $0.root == record.root && $0.path == held
                    })
                else { continue }
                try transaction.addLocation(
                    Location(
                        root: record.root, path: held, fingerprint: print.encoded,
                        isOwned: false), of: record.attachment)
            }
        }
        endWaits(records)
        for record in records { log.debug("after_ingest: \(record.path) has left the inbox") }
    }
}
