import ChuteKit
import ChuteSystem

/// After a crash: what is on disk counts.
extension OutboxWriter {
    /// Brings every intent to its end and removes what nothing needs from staging.
    func recover() async throws {
        let prefix = folderKey(root)
        let intents = try await chute.store.read { snapshot in
            try snapshot.rows(IntentRecord.self, after: prefix).prefix {
                $0.key.starts(with: prefix)
            }
        }
        unsettled = []
        for intent in intents { try await settle(intent.key) }
        try await endForgotten()
        try await reap()
        try await askAgainForLost()
    }

    /// Brings the intent of a row to its end. Where the disk refuses, it stays for later.
    func settle(_ key: [UInt8]) async throws {
        guard let place = placeInUse() else { return }
        let intent = try await chute.store.read { try $0.row(IntentRecord.self, key) }
        guard let intent else {
            unsettled.remove(key)
            return
        }
        let ending: OutboxPublisher.Recovered?
        do throws(SystemError) {
            ending = try place.publisher.recover(intent.intent, now: FileStatus.now)
        } catch {
            if unsettled.insert(key).inserted {
                log.warning("\(intent.intent.target) cannot be brought to its end: \(error)")
            }
            return
        }
        guard let ending else { return }
        unsettled.remove(key)
        let record = try await chute.store.read { try $0.row(DeliveryRecord.self, key) }
        if let record, record.staged == intent.intent.staged {
            try await end(record, intent, ending, place)
        } else {
            try await abandon(intent, ending)
        }
    }

    /// Ends the version that the row is about, whether or not a later one is known by now: that
    /// comes after.
    private func end(
        _ record: DeliveryRecord, _ intent: IntentRecord, _ ending: OutboxPublisher.Recovered,
        _ place: Place
    ) async throws {
        switch ending {
        case .fetchAgain: try await fetchAgain(record)
        case .movedByUser:
            let copy = DeliveredCopy(
                path: intent.intent.target,
                fingerprint: CopyFingerprint(
                    identity: intent.intent.identity, size: record.attachment.byteCount,
                    modified: 0, changed: 0))
            try await write(.published(PublishedCopy(copy: copy, isGone: true)), of: record)
        case .published(let published): try await write(.published(published), of: record)
        case .publishAgain(let staged):
            let collection = folder.collection
            let document = try await chute.store.read {
                try $0.document(record.document, in: collection)
            }
            guard let document, document.versionID == record.versionID,
                let file = document.fields.flatMap(FileDocument.init)
            else { return try await fetchAgain(record, discarding: staged) }
            guard let components = try await components(for: file, document, place) else {
                try staged.discard()
                return try await refuse(record, .nameRefused, "the path gives no name")
            }
            let item = PublishItem(
                staged: staged, components: components, modified: file.modified,
                durability: .synced)
            let candidate = Candidate(
                record: record, document: document, file: file, layer: [], item: item)
            try await publish([candidate], place)
        }
    }

    private func write(_ outcome: PublishOutcome, of record: DeliveryRecord) async throws {
        let (root, collection) = (root, folder.collection)
        let ending = DeliveryEnding(
            record: record, attachment: record.attachment, now: FileStatus.now)
        try await chute.store.write { transaction in
            try ending.write(outcome, root: root, collection: collection, transaction)
        }
    }

    /// Ends an intent whose row went on to another version: its file is only cleared away, or
    /// known as the copy that the later version replaces.
    private func abandon(
        _ intent: IntentRecord, _ ending: OutboxPublisher.Recovered
    ) async throws {
        var published: PublishedCopy?
        switch ending {
        case .publishAgain(let staged): try staged.discard()
        case .published(let copy): published = copy
        case .movedByUser, .fetchAgain: break
        }
        let (found, root, now) = (published, root, FileStatus.now)
        try await chute.store.write { transaction in
            try transaction.remove(IntentRecord.self, intent.key)
            guard let found else { return }
            if let replaced = found.replaced {
                try transaction.put(
                    ReplacedRecord(
                        root: root, document: intent.document, copy: replaced,
                        since: now / 1_000_000_000))
            }
            guard var record = try transaction.row(DeliveryRecord.self, intent.key) else {
                return
            }
            if let former = record.copy {
                try transaction.removeLocation(of: former, root: root)
            }
            record.copy = found.copy
            record.isUsersOwn = false
            try transaction.put(record)
        }
    }

    /// Wants whose staged file an earlier start never made: its folder is gone, so that they get
    /// a place in that of this start, also one that waits since its file could not be written.
    /// And what rested while the folder was not configured.
    private func askAgainForLost() async throws {
        guard let place = placeInUse() else { return }
        let indexes = [DeliveryRecord.State.fetching, .waiting].map {
            DeliveryRecord.stateIndex(root: root, $0)
        }
        let wanting = try await chute.store.read { snapshot in
            try indexes.flatMap { try snapshot.rows(DeliveryRecord.self, where: "state", is: $0) }
        }
        let lost = try wanting.filter { record in
            guard !unsettled.contains(record.key) else { return false }
            // Without a want it waits for space or for its name, and is asked for by that.
            if record.state == .waiting, record.want == nil { return false }
            guard record.want != nil, let staged = record.staged else { return true }
            return try staged.parent != place.staging.start && stagedFile(staged, place) == nil
        }
        guard !lost.isEmpty else { return }
        let space = try await availableSpace(place, for: Self.sum(lost.map(\.attachment)))
        _ = try await fetch(lost, place, within: space)
    }

    /// Empties staging of what no row needs.
    ///
    /// What lies there is listed before the rows are read: a file is named by a row before it is
    /// made.
    func reap() async throws {
        guard let place = placeInUse() else { return }
        let (folder, root, current) = (place.publisher.root, root, place.staging.start)
        let report: StagingReaper.Report
        do {
            let files = try StagingReaper.files(in: folder)
            let known = try await chute.store.read { try Self.knownStaging(of: root, $0) }
            report = try StagingReaper.reap(files, in: folder, current: current, known: known)
        } catch let error as SystemError {
            return log.warning("staging of \(record.path) was not cleaned: \(error)")
        }
        if !report.unknown.isEmpty, report.unknown != unknownStaged {
            log.notice(
                "\(report.unknown.count) files in staging of \(record.path) are not of this "
                    + "device and stay, \(report.unknown[0]) for one")
        }
        unknownStaged = report.unknown
        guard !report.emptied.isEmpty else { return }
        try await chute.store.write(durable: .withNext) { transaction in
            for start in report.emptied {
                try transaction.remove(StagingRecord.self, folderKey(root, start))
            }
        }
    }

    private static func knownStaging(
        of root: Int64, _ snapshot: Snapshot
    ) throws -> StagingReaper.Known {
        let prefix = folderKey(root)
        let starts = try snapshot.rows(StagingRecord.self, after: prefix).filter {
            $0.root == root
        }
        var known = StagingReaper.Known(starts: Set(starts.map(\.start)))
        for state in [DeliveryRecord.State.fetching, .waiting] {
            let index = DeliveryRecord.stateIndex(root: root, state)
            let rows = try snapshot.rows(DeliveryRecord.self, where: "state", is: index)
            known.needed.formUnion(rows.compactMap(\.staged))
        }
        let intents = try snapshot.rows(IntentRecord.self, after: prefix)
        for intent in intents where intent.root == root {
            known.needed.insert(intent.intent.staged)
        }
        return known
    }
}
