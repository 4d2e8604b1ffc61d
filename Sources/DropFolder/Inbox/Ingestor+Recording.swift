import ChuteKit
import ChuteSystem

/// What files become in the store: documents, versions, renames.
extension Ingestor {
    /// What one transaction made of a group.
    private struct Recorded: Sendable {
        var waiting: [(IngestedFile, Duration)] = []
        var withheld: [(IngestedFile, IngestNote)] = []
        var dropped: [BytePath] = []
        var shared = 0
    }

    /// Decides what each file is and commits all of it together. Peers hear of it by that.
    func record(_ files: [IngestedFile]) async throws {
        guard !files.isEmpty else { return }
        let (root, collection, now, history) = (root, collection, now, history)
        let inbox = watcher.root
        let vanished = scan.vanished
        let emptyNames = try await emptyNames(like: files)
        let newNames = Dictionary(grouping: files, by: \.attachment).mapValues(\.count)
        let undecidedHeld = Set(undecided.compactMap(\.file.held))
        let recorded = try await chute.store.write { transaction in
            var recorded = Recorded()
            let writer = InboxWriting(
                transaction: transaction, root: root, collection: collection, inbox: inbox)
            for file in files {
                let here = try writer.row(at: file.path)
                let decision = try writer.decide(
                    file, at: here, history: history, emptyNames: emptyNames,
                    vanished: vanished[file.attachment] ?? [],
                    newNames: newNames[file.attachment] ?? 1, now: now)
                switch decision {
                case .wait(let moment): recorded.waiting.append((file, moment))
                case .withheld(let note): recorded.withheld.append((file, note))
                case .unchanged, .gone:
                    recorded.dropped += try writer.write(file, decision, over: here)
                case .newDocument, .newVersion, .rename:
                    recorded.dropped += try writer.write(file, decision, over: here)
                    recorded.shared += 1
                }
            }
            recorded.dropped = try writer.unneeded(
                among: recorded.dropped,
                undecided: undecidedHeld.union(recorded.waiting.compactMap(\.0.held)))
            return recorded
        }
        for (file, moment) in recorded.waiting { undecided.append((file, moment)) }
        for (file, note) in recorded.withheld {
            try await skip(
                file.path, note.reason, "the version before is kept by the peers", file.fingerprint)
        }
        let decided = files.map(\.path).filter { path in
            !recorded.waiting.contains { $0.0.path == path }
        }
        for path in decided { self.history.forget(path) }
        guard let inbox else { return }
        for path in recorded.dropped { holder.drop(path, in: inbox) }
        if recorded.shared > 0 { syncLater(inbox) }
    }

    /// The names of rows with the same inode as one of `files` that have no file now: the events
    /// of a rename may not have come yet.
    private func emptyNames(like files: [IngestedFile]) async throws -> Set<BytePath> {
        let root = root
        let names = try await chute.store.read { snapshot in
            try files.flatMap { file in
                try snapshot.rows(
                    InboxRecord.self, where: "inode",
                    is: InboxRecord.inodeIndex(root: root, file.fingerprint), limit: 64
                ).map(\.path).filter { $0 != file.path }
            }
        }
        guard !names.isEmpty, let inbox = watcher.root else { return [] }
        return Set(
            names.filter { name in
                do throws(SystemError) { return try inbox.folder.status(of: name) == nil } catch {
                    return false  // it cannot be looked at: nothing says that it is empty
                }
            })
    }

    func skip(
        _ path: BytePath, _ reason: SkipReason, _ detail: String = "",
        _ print: FileFingerprint? = nil
    ) async throws {
        let record = SkipRecord(
            root: root, path: path, reason: reason, detail: detail, fingerprint: print)
        let known = try await chute.store.read { try $0.row(SkipRecord.self, record.key) }
        guard known != record else { return }
        try await chute.store.write(durable: .withNext) { try $0.put(record) }
        log.info("skipped \(path): \(reason.rawValue)\(detail.isEmpty ? "" : " (\(detail))")")
    }

    func handleSkipped(
        _ path: BytePath, _ reason: SkipReason, _ kind: InboxSighting.Kind?
    ) async throws {
        scan.saw(path)
        switch kind {
        case .deleted, .movedFrom: try await forgetSkip(path)
        default: try await skip(path, reason)
        }
    }

    func forgetSkip(_ path: BytePath) async throws {
        let key = folderKey(root, path)
        guard try await chute.store.read({ try $0.row(SkipRecord.self, key) }) != nil else {
            return
        }
        try await chute.store.write { try $0.remove(SkipRecord.self, key) }
    }

    /// What was left out by limits that are not in force any more is read again by the first scan.
    func forgetOutdatedSkips() async throws {
        let root = root
        for reason in [SkipReason.typeRefused, .tooLarge] {
            let index = folderKey(root) + Array(reason.rawValue.utf8)
            let skips = try await chute.store.read {
                try $0.rows(SkipRecord.self, where: "reason", is: index)
            }
            let keys = skips.filter(reader.isOutOfDate).map(\.key)
            guard !keys.isEmpty else { continue }
            try await chute.store.write { transaction in
                for key in keys { try transaction.remove(SkipRecord.self, key) }
            }
        }
    }

    /// The files that this device itself published, unchanged: moved or linked from an outbox
    /// into the inbox.
    func ownCopies(
        among files: [(path: BytePath, print: FileFingerprint)]
    ) async throws -> Set<BytePath> {
        try await chute.store.read { snapshot in
            let own = try files.filter { file in
                let rows = try snapshot.rows(
                    DeliveryRecord.self, where: "inode",
                    is: DeliveryRecord.inodeIndex(file.print.inode), limit: 16)
                return rows.contains { $0.isOurs(file.print) }
            }
            return Set(own.map(\.path))
        }
    }

    /// Names that stood empty for the quiet time: their next file is another document.
    ///
    /// Not where the very file has its name again: `after_ingest` gave it back, and the event that
    /// says so is still to come.
    func noteAbsent() async throws {
        let gone = history.takeAbsent(now: now)
        guard !gone.isEmpty else { return }
        let (root, inbox) = (root, watcher.root)
        try await chute.store.write { transaction in
            for path in gone {
                guard
                    var row = try transaction.row(InboxRecord.self, folderKey(root, path)),
                    !row.wasSeenAbsent, !(inbox?.has(row.fingerprint, at: path) ?? false)
                else { continue }
                row.wasSeenAbsent = true
                try transaction.put(row)
            }
        }
    }

    /// A folder was renamed or moved away, and all names below it with it.
    func folderLeft(_ folder: BytePath) async throws {
        for record in try await records(below: folder) {
            history.handle(.missing(record.path), now: now)
            try await feed(.vanished(record.path))
        }
    }

    private func records(below folder: BytePath) async throws -> [InboxRecord] {
        let prefix = folderKey(root, folder.appending("x")).dropLast()
        return try await chute.store.read { snapshot in
            var found: [InboxRecord] = []
            var last = Array(prefix)
            while true {
                let page = try snapshot.rows(InboxRecord.self, after: last, limit: 512)
                let inside = page.prefix { $0.key.starts(with: prefix) }
                found += inside
                guard inside.count == 512, let end = inside.last else { return found }
                last = end.key
            }
        }
    }

    /// Names whose files are on their way out are not gone: the taker says what becomes of them.
    func seeTaken() async throws {
        let prefix = folderKey(root)
        let records = try await chute.store.read { snapshot in
            try snapshot.rows(TakeRecord.self, after: prefix).prefix {
                $0.key.starts(with: prefix)
            }
        }
        for record in records { scan.saw(record.path) }
        taker.events.post(.inboxCame)
    }

    /// What a complete scan did not find, and no event named, is gone.
    func scanEnded(_ coverage: InboxSighting.Coverage) async throws {
        defer { scan.end() }
        guard coverage.isComplete else { return }
        let missing = try await records(below: "").filter {
            !$0.wasSeenAbsent && !scan.hasSeen($0.path)
        }
        for record in try await notBeingTaken(missing) {
            guard coverage.saysAbsent(record.path) else { continue }
            history.handle(.missing(record.path), now: now)
            scan.isGone(record)
        }
        try await forgetSkipsNotSeen(coverage)
    }

    /// Leaves out what `after_ingest` is taking away, or took since the rows were read.
    private func notBeingTaken(_ records: [InboxRecord]) async throws -> [InboxRecord] {
        guard !records.isEmpty else { return [] }
        return try await chute.store.read { snapshot in
            try records.filter { record in
                let taking = TakeRecord.key(root: record.root, record.document)
                return try snapshot.row(TakeRecord.self, taking) == nil
                    && snapshot.row(InboxRecord.self, record.key) == record
            }
        }
    }

    private func forgetSkipsNotSeen(_ coverage: InboxSighting.Coverage) async throws {
        let prefix = folderKey(root)
        let skips = try await chute.store.read { snapshot in
            try snapshot.rows(SkipRecord.self, after: prefix).prefix {
                $0.key.starts(with: prefix)
            }
        }
        let gone = skips.filter { !scan.hasSeen($0.path) && coverage.saysAbsent($0.path) }
        guard !gone.isEmpty else { return }
        let keys = gone.map(\.key)
        try await chute.store.write { transaction in
            for key in keys { try transaction.remove(SkipRecord.self, key) }
        }
    }
}
