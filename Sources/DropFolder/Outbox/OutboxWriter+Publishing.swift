import ChuteKit
import ChuteSystem
import Glibc

/// Giving fetched files their names, group by group.
extension OutboxWriter {
    /// A fetched file on its way to its name.
    struct Candidate {
        let record: DeliveryRecord
        let document: OwnedDocument
        let file: FileDocument
        let layer: [UInt8]
        let item: PublishItem
    }

    func take(_ outcomes: [FetchOutcome]) async throws {
        guard let place = placeInUse() else {
            unplaced += outcomes
            return
        }
        var completed: [FetchOutcome] = []
        for outcome in outcomes {
            switch outcome.result {
            case .completed: completed.append(outcome)
            case .sampled: try await judgeSample(outcome, place)
            case .waiting(let obstacle, let reason):
                try await noteWaiting(outcome.want, SkipReason(obstacle), reason)
            case .mismatch(let peer, let isFinal):
                try await noteMismatch(outcome.want, from: peer, isFinal: isFinal)
            }
        }
        let (small, big) = (
            completed.filter { $0.want.attachment.byteCount <= SyncPlan.bigSize },
            completed.filter { $0.want.attachment.byteCount > SyncPlan.bigSize }
        )
        // Each is open until it has its name.
        let count = min(512, max(16, DescriptorLimit.current / 4))
        for start in stride(from: 0, to: small.count, by: count) {
            try await publish(Array(small[start..<min(start + count, small.count)]), place)
        }
        for outcome in big { try await publish([outcome], place) }
    }

    private func noteWaiting(_ want: Want, _ reason: SkipReason, _ why: String) async throws {
        try await chute.store.write { transaction in
            guard var record = try transaction.delivery(of: want) else { return }
            record.state = .waiting
            record.reason = reason.rawValue
            record.detail = why
            try transaction.put(record)
        }
    }

    /// The file waits for whoever has the right bytes. Its origin is told once it is clear that it
    /// is not the one: the receipt says refused, until the file comes from another.
    private func noteMismatch(
        _ want: Want, from peer: DeviceID?, isFinal: Bool
    ) async throws {
        let name = try await chute.store.read { snapshot in
            try peer.map { try snapshot.profile(of: $0)?.name ?? $0.short }
        }
        let why =
            name.map { "\($0) sent other bytes than were announced" }
            ?? "no file has the hash that was announced for an empty one"
        try await noteWaiting(want, .hashMismatch, why)
        guard isFinal else { return }
        let collection = folder.collection
        try await chute.store.write { transaction in
            guard let record = try transaction.delivery(of: want),
                let document = try transaction.document(record.document, in: collection),
                document.versionID == record.versionID,
                peer == nil || peer == document.origin
            else { return }
            try transaction.state(
                Receipt(
                    collection: collection, document: document.id, version: document.versionID,
                    state: .refused(reason: SkipReason.hashMismatch.rawValue)))
        }
    }

    private func publish(_ outcomes: [FetchOutcome], _ place: Place) async throws {
        var names = try await namePeers(of: outcomes)
        let open = names.map(\.1.key).filter(unsettled.contains)
        if !open.isEmpty {
            // An earlier version first: its intent would be forgotten, and with it a file of the
            // user's that an exchange brought out.
            for key in open { try await settle(key) }
            names = try await namePeers(of: outcomes).filter { !unsettled.contains($0.1.key) }
        }
        var candidates: [Candidate] = []
        for (outcome, record, document) in names {
            guard let path = record.staged, let staged = try stagedFile(path, place) else {
                try await fetchAgain(record)
                continue
            }
            let candidate = try await candidate(record, document, staged, outcome.layer, place)
            if let candidate { candidates.append(candidate) }
        }
        try await publish(candidates, place)
    }

    func publish(_ candidates: [Candidate], _ place: Place) async throws {
        guard !candidates.isEmpty else { return }
        for candidate in candidates {
            expected[candidate.item.staged.name] = candidate.file.attachment
        }
        defer { expected = [:] }
        let root = root
        let (store, collection) = (chute.store, folder.collection)
        let documents = candidates.map(\.document.id)
        let wants = candidates.map(\.record.want)
        let now = FileStatus.now
        let endings = candidates.map {
            DeliveryEnding(
                record: $0.record, attachment: $0.file.attachment, now: now, layer: $0.layer)
        }
        let results = try await place.publisher.publish(
            candidates.map(\.item), now: now
        ) { intents in
            try await store.write { transaction in
                for intent in intents {
                    try transaction.put(
                        IntentRecord(
                            root: root, document: documents[intent.index], intent: intent))
                    // Or the fetcher, after a crash, would write to the staged path anew while
                    // recovery looks there for what an exchange brought out.
                    if let want = wants[intent.index] { try transaction.finish(want: want) }
                }
            }
        } commitDelivered: { outcomes in
            try await store.write { transaction in
                for (ending, outcome) in zip(endings, outcomes) {
                    try ending.write(outcome, root: root, collection: collection, transaction)
                }
            }
        }
        try await afterPublishing(candidates, results)
    }

    /// Opens a staged file; `nil` where there is none.
    func stagedFile(_ path: BytePath, _ place: Place) throws(SystemError) -> StagedFile? {
        let (start, name) = (path.parent, path.lastComponent)
        if start == place.staging.start { return try place.staging.reopen(name) }
        let root = place.publisher.root
        return try StagingFolder.reopen(start, in: root)?.reopen(name)
    }

    /// A candidate of what an earlier attempt left in staging, if that still has the bytes of the
    /// version that counts; `nil` where it is to be fetched again.
    func candidate(
        kept file: StagedFile, _ record: DeliveryRecord, _ place: Place
    ) async throws -> Candidate? {
        let collection = folder.collection
        let document = try await chute.store.read {
            try $0.document(record.document, in: collection)
        }
        guard let staged = record.staged, let document, document.versionID == record.versionID
        else { return nil }
        var layer: [UInt8] = []
        if kept[staged] != CopyFingerprint(try file.descriptor.status()) {
            let hashed: AttachmentHasher.Hashed?
            do {
                hashed = try hasher.hash(
                    descriptor: file.descriptor.raw, expectedLength: record.attachment.byteCount)
            } catch { return nil }  // it cannot be read: fetched again
            guard let hashed, hashed.attachment == record.attachment else { return nil }
            layer = hashed.layer
        }
        return try await candidate(record, document, file, layer, place)
    }

    private func candidate(
        _ record: DeliveryRecord, _ document: OwnedDocument, _ staged: StagedFile, _ layer: [UInt8],
        _ place: Place
    ) async throws -> Candidate? {
        guard let file = document.fields.flatMap(FileDocument.init) else { return nil }
        let rules = rules.forFiles(of: document.origin)
        if !rules.takesEverything {
            let size = file.attachment.byteCount
            let name = BytePath(bytes: file.path.last ?? [])
            let type = try detector.type(of: staged.descriptor, size: size, name: name)
            if case .refuse(let reason, let detail)? = rules.refusal(of: type) {
                try staged.discard()
                try await refuse(record, reason, detail)
                return nil
            }
        }
        guard let components = try await components(for: file, document, place) else {
            try staged.discard()
            try await refuse(record, .nameRefused, "the path gives no name in the outbox")
            return nil
        }
        let replaced = record.isUsersOwn || record.state == .removed ? nil : record.copy
        return Candidate(
            record: record, document: document, file: file, layer: layer,
            item: PublishItem(
                staged: staged, components: components, modified: file.modified,
                replacing: replaced))
    }
}

extension SkipReason {
    init(_ obstacle: FetchOutcome.WriteObstacle) {
        switch obstacle {
        case .noSpace: self = .noSpace
        case .unwritable: self = .unwritable
        case .unavailable: self = .notMounted
        }
    }
}
