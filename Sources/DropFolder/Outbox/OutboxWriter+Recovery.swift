import ChuteKit
import ChuteSystem

/// After a crash, and when the user changed something: what is on disk counts.
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
                record, document, file, .published(PublishedCopy(copy: copy, isGone: true)))
        case .published(let published)?:
            try await writeRecovered(record, document, file, .published(published))
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
        _ record: DeliveryRecord, _ document: Document, _ file: FileDocument,
        _ outcome: PublishOutcome
    ) async throws {
        let (root, collection) = (root, folder.collection)
        let plain = PlainCandidate(
            record: record, document: document, attachment: file.attachment)
        try await chute.store.write { transaction in
            try Self.write(plain, outcome, root: root, collection: collection, transaction)
        }
    }

    /// Wants whose staged file an earlier start never made: its folder is gone, so that they get
    /// a place in that of this start.
    private func askAgainForLost(_ place: Place) async throws {
        let index = DeliveryRecord.stateIndex(root: root, .fetching)
        let fetching = try await chute.reader.read {
            try $0.rows(DeliveryRecord.self, where: "state", is: index)
        }
        let lost = try fetching.filter { record in
            guard let staged = record.staged, staged.parent != place.staging.start else {
                return record.want == nil
            }
            return try stagedFile(record, place) == nil
        }
        guard !lost.isEmpty else { return }
        let (root, rules, start) = (root, rules, place.staging.start)
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

    // MARK: What the user did

    /// Looks whether delivered copies are where they were put. What is gone stays gone.
    func checkCopies() async throws {
        guard let place = placeInUse() else { return }
        let prefix = folderKey(root)
        var after = prefix
        while true {
            let start = after
            let page = try await chute.reader.read { snapshot in
                try snapshot.rows(DeliveryRecord.self, after: start, limit: 512)
                    .prefix { $0.key.starts(with: prefix) }
            }
            guard let last = page.last else { return }
            after = last.key
            var gone: [DeliveryRecord] = []
            var edited: [DeliveryRecord] = []
            for record in page where record.state == .delivered {
                guard let copy = record.copy else { continue }
                let status: FileStatus?
                do throws(SystemError) {
                    status = try place.publisher.root.folder.status(of: copy.path)
                } catch { continue }
                guard let status, InodeIdentity(status) == copy.fingerprint.identity else {
                    gone.append(record)
                    continue
                }
                if !CopyFingerprint(status).isSameButChanged(copy.fingerprint) {
                    edited.append(record)
                }
            }
            guard placeInUse() != nil else { return }  // an unmounted folder says nothing
            try await note(gone: gone, edited: edited)
        }
    }

    private func note(gone: [DeliveryRecord], edited: [DeliveryRecord]) async throws {
        guard !gone.isEmpty || !edited.isEmpty else { return }
        let (root, collection) = (root, folder.collection)
        try await chute.store.write { transaction in
            for record in gone {
                guard var known = try transaction.row(DeliveryRecord.self, record.key),
                    known == record, let copy = known.copy
                else { continue }
                known.state = .removed
                try transaction.put(known)
                try transaction.removeLocation(root: root, path: copy.path)
                try transaction.state(
                    Receipt(
                        collection: collection, document: known.document,
                        version: known.versionID, state: .delivered, isRemoved: true))
            }
            for record in edited {
                guard let copy = record.copy else { continue }
                try transaction.removeLocation(root: root, path: copy.path)
            }
        }
    }

    /// The origin renamed a delivered file, or took it back.
    func moveOrRetract(_ document: Document) async throws {
        guard let place = placeInUse() else { return }
        let key = DeliveryRecord.key(root: root, document.id)
        guard var record = try await chute.reader.read({ try $0.row(DeliveryRecord.self, key) })
        else { return }
        record.version = document.version
        record.versionID = document.versionID
        guard let file = document.fields.flatMap(FileDocument.init) else {
            return try await retract(record, place)
        }
        var oldPath: BytePath?
        if let copy = record.copy, record.state == .delivered, !record.isUsersOwn,
            let components = try await components(for: file, document, place),
            case .moved(let moved) = place.publisher.moveCopy(copy, to: components)
        {
            oldPath = copy.path
            record.copy = moved
        }
        let (root, collection, changed, old) = (root, folder.collection, record, oldPath)
        try await chute.store.write { transaction in
            try transaction.put(changed)
            if let old, let copy = changed.copy {
                try transaction.removeLocation(root: root, path: old)
                try transaction.addLocation(
                    Location(
                        root: root, path: copy.path, fingerprint: copy.fingerprint.encoded,
                        isOwned: false), of: changed.attachment)
            }
            try transaction.state(
                Receipt(
                    collection: collection, document: changed.document,
                    version: changed.versionID, state: .delivered,
                    isRemoved: changed.state == .removed))
        }
    }

    /// `keep`: the copy stays. `trash`: an untouched copy goes to `.chute/trash`.
    private func retract(_ record: DeliveryRecord, _ place: Place) async throws {
        var record = record
        if folder.onRetract == .trash, let copy = record.copy, record.state == .delivered,
            !record.isUsersOwn
        {
            do throws(SystemError) {
                let trash = try place.publisher.root.privateFolder("trash")
                let name = BytePath(
                    bytes: OutboxNaming.shortened(
                        Array("\(record.document.description.prefix(16))-".utf8)
                            + copy.path.lastComponent.bytes, to: 255))
                let status = try place.publisher.root.folder.status(of: copy.path)
                if let status, CopyFingerprint(status).isSameButChanged(copy.fingerprint) {
                    try place.publisher.root.folder.renameExclusively(
                        copy.path, to: name, in: trash)
                    try trash.sync()
                }
            } catch {
                log.warning("\(copy.path) was taken back but stays: \(error)")
            }
        }
        record.state = .retracted
        let (root, changed) = (root, record)
        try await chute.store.write { transaction in
            try transaction.put(changed)
            if let copy = changed.copy {
                try transaction.removeLocation(root: root, path: copy.path)
            }
        }
    }
}

extension OutboxWriter.PlainCandidate {
    init(record: DeliveryRecord, document: Document, attachment: AttachmentID) {
        self.record = record
        self.document = document
        self.attachment = attachment
        layer = []
    }
}
