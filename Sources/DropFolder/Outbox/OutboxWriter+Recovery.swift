import ChuteKit
import ChuteSystem

/// After a crash: what is on disk counts.
extension OutboxWriter {
    /// Brings every intent to its end and removes what nothing needs from staging.
    func recover() async throws {
        guard let place = placeInUse() else { return }
        let prefix = folderKey(root)
        let intents = try await chute.reader.read { snapshot in
            try snapshot.rows(IntentRecord.self, after: prefix).prefix {
                $0.key.starts(with: prefix)
            }
        }
        for intent in intents { try await recover(intent, place) }
        try await reap(place)
        try await askAgainForLost(place)
        try await publishStaged(place)
    }

    private func recover(_ intent: IntentRecord, _ place: Place) async throws {
        let collection = folder.collection
        let (record, document) = try await chute.reader.read { snapshot in
            (
                try snapshot.row(DeliveryRecord.self, intent.key),
                try snapshot.document(intent.document, in: collection)
            )
        }
        guard let record, let document, document.versionID == record.versionID,
            let file = document.fields.flatMap(FileDocument.init)
        else {
            try await chute.store.write { try $0.remove(IntentRecord.self, intent.key) }
            return
        }
        switch try place.publisher.recover(intent.intent, now: Self.wallClock()) {
        case nil: return
        case .fetchAgain?: try await fetchAgain(record)
        case .movedByUser?:
            let copy = DeliveredCopy(
                path: intent.intent.target,
                fingerprint: CopyFingerprint(
                    identity: intent.intent.identity, size: file.attachment.byteCount,
                    modified: 0, changed: 0))
            try await writeRecovered(
                record, file, .published(PublishedCopy(copy: copy, isGone: true)))
        case .published(let published)?:
            try await writeRecovered(record, file, .published(published))
        case .publishAgain(let staged)?:
            guard let components = try await components(for: file, document, place) else {
                return try await refuse(record, .nameRefused, "the path gives no name")
            }
            try await publish(
                [
                    Candidate(
                        record: record, document: document, file: file, layer: [],
                        item: PublishItem(
                            staged: staged, components: components, modified: file.modified,
                            durability: .synced))
                ], place)
        }
    }

    private func writeRecovered(
        _ record: DeliveryRecord, _ file: FileDocument, _ outcome: PublishOutcome
    ) async throws {
        let (root, collection) = (root, folder.collection)
        let ending = DeliveryEnding(record: record, attachment: file.attachment)
        try await chute.store.write { transaction in
            try ending.write(outcome, root: root, collection: collection, transaction)
        }
    }

    /// Wants whose staged file an earlier start never made: its folder is gone, so that they get
    /// a place in that of this start. One that waits, since its file could not be written, too.
    private func askAgainForLost(_ place: Place) async throws {
        let root = root
        let wanting = try await chute.reader.read { snapshot in
            try [DeliveryRecord.State.fetching, .waiting].flatMap { state in
                try snapshot.rows(
                    DeliveryRecord.self, where: "state",
                    is: DeliveryRecord.stateIndex(root: root, state))
            }
        }
        let lost = try wanting.filter { record in
            // Without a want it waits for space or for its name, and is asked for by that.
            if record.state == .waiting, record.want == nil { return false }
            guard let staged = record.staged, staged.parent != place.staging.start else {
                return record.want == nil
            }
            return try stagedFile(record, place) == nil
        }
        guard !lost.isEmpty else { return }
        let (rules, start) = (rules, place.staging.start)
        let (collection, space) = (folder.collection, try await availableSpace(place))
        try await chute.store.write { transaction in
            var budget = space
            for record in lost {
                guard let known = try transaction.row(DeliveryRecord.self, record.key),
                    known == record,
                    let document = try transaction.document(record.document, in: collection)
                else { continue }
                let writing = DeliveryWriting(
                    transaction: transaction, root: root, start: start, rules: rules)
                try writing.fetch(document, known, &budget)
            }
        }
    }

    /// Files that were complete but could not be named before are published now; the wants of
    /// others go on by themselves.
    private func publishStaged(_ place: Place) async throws {
        let index = DeliveryRecord.stateIndex(root: root, .waiting)
        let waiting = try await chute.reader.read {
            try $0.rows(DeliveryRecord.self, where: "state", is: index, limit: 1024)
        }
        for record in waiting where record.want == nil { try await fetchAgain(record) }
    }

    /// Empties the staging folders of earlier starts of what no row needs. An exchange that was
    /// cut short may have left a user's file there: those have intents, which were dealt with.
    private func reap(_ place: Place) async throws {
        let prefix = folderKey(root)
        let wanted = try await chute.reader.read { snapshot in
            var wanted: Set<BytePath> = []
            for state in [DeliveryRecord.State.fetching, .waiting] {
                let rows = try snapshot.rows(
                    DeliveryRecord.self, where: "state",
                    is: prefix + Array(state.rawValue.utf8))
                wanted.formUnion(rows.compactMap(\.staged))
            }
            let intents = try snapshot.rows(IntentRecord.self, after: prefix)
            for intent in intents where intent.key.starts(with: prefix) {
                wanted.insert(intent.intent.start.appending(intent.intent.stagedName))
            }
            return wanted
        }
        do throws(SystemError) {
            let staging = try place.publisher.root.privateFolder("staging")
            var known: [StagingReaper.Known] = []
            for start in try staging.entries().map(\.name) where start != place.staging.start {
                guard try staging.status(of: start)?.kind == .directory else { continue }
                let folder = try staging.folder(at: start)
                for name in try folder.entries().map(\.name) {
                    guard let status = try folder.status(of: name) else { continue }
                    known.append(
                        StagingReaper.Known(
                            start: start, name: name, identity: InodeIdentity(status),
                            isWanted: wanted.contains(start.appending(name))))
                }
            }
            _ = try StagingReaper.reap(
                place.publisher.root, current: place.staging.start, known: known)
        } catch {
            log.warning("staging of \(record.path) was not cleaned: \(error)")
        }
    }
}
