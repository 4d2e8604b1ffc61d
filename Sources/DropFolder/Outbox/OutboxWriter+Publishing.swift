import ChuteKit
import ChuteSystem
import Glibc

/// Giving fetched files their names, group by group.
extension OutboxWriter {
    /// A fetched file on its way to its name.
    struct Candidate {
        let record: DeliveryRecord
        let document: Document
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
            case .waiting(let reason, let isNoSpace):
                try await noteWaiting(outcome.want, isNoSpace ? .noSpace : .notMounted, reason)
            case .mismatch(let peer):
                try await noteWaiting(
                    outcome.want, .hashMismatch,
                    "\(peer.short) sent other bytes than were announced")
            }
        }
        let (small, big) = (
            completed.filter { $0.want.attachment.byteCount <= SyncPlan.bigSize },
            completed.filter { $0.want.attachment.byteCount > SyncPlan.bigSize }
        )
        if !small.isEmpty { try await publish(small, place) }
        for outcome in big { try await publish([outcome], place) }
    }

    private func noteWaiting(_ want: Want, _ reason: SkipReason, _ why: String) async throws {
        try await chute.store.write { transaction in
            let rows = try transaction.rows(
                DeliveryRecord.self, where: "want", is: folderKey(want.id), limit: 1)
            guard var record = rows.first else { return }
            record.state = .waiting
            record.reason = reason.rawValue
            record.detail = why
            try transaction.put(record)
        }
    }

    private func publish(_ outcomes: [FetchOutcome], _ place: Place) async throws {
        let names = try await namePeers(of: outcomes)
        var candidates: [Candidate] = []
        for (outcome, record, document) in names {
            guard let staged = try stagedFile(record, place) else {
                try await fetchAgain(record)
                continue
            }
            if let candidate = try await candidate(outcome, record, document, staged, place) {
                candidates.append(candidate)
            }
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
        let plain = candidates.map { PlainCandidate($0) }
        let results = try await place.publisher.publish(
            candidates.map(\.item), now: Self.wallClock()
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
                for (candidate, outcome) in zip(plain, outcomes) {
                    try Self.write(
                        candidate, outcome, root: root, collection: collection, transaction)
                }
            }
        }
        try await afterPublishing(candidates, results)
    }

    /// What a transaction needs of a candidate.
    struct PlainCandidate: Sendable {
        let record: DeliveryRecord
        let document: Document
        let attachment: AttachmentID
        let layer: [UInt8]

        init(_ candidate: Candidate) {
            record = candidate.record
            document = candidate.document
            attachment = candidate.file.attachment
            layer = candidate.layer
        }
    }

    /// Delivered and the signed receipt, in one transaction.
    static func write(
        _ candidate: PlainCandidate, _ outcome: PublishOutcome, root: Int64,
        collection: String, _ transaction: Transaction
    ) throws {
        guard var record = try transaction.row(DeliveryRecord.self, candidate.record.key),
            record.versionID == candidate.record.versionID
        else { return }
        let copy: DeliveredCopy
        var isGone = false
        switch outcome {
        case .published(let published):
            copy = published.copy
            isGone = published.isGone
            record.isUsersOwn = false
        case .adopted(let adopted):
            record.isUsersOwn = record.copy != adopted
            copy = adopted
        case .failed: return
        }
        if let old = record.copy, old.path != copy.path || record.attachment != candidate.attachment
        {
            try transaction.removeLocation(root: root, path: old.path)
        }
        if let want = record.want { try transaction.finish(want: want) }
        record.want = nil
        record.staged = nil
        record.copy = copy
        record.state = isGone ? .removed : .delivered
        record.reason = ""
        record.detail = ""
        try transaction.put(record)
        try transaction.remove(IntentRecord.self, record.key)
        if !isGone {
            try transaction.addLocation(
                Location(
                    root: root, path: copy.path, fingerprint: copy.fingerprint.encoded,
                    isOwned: false), of: candidate.attachment, layer: candidate.layer)
        }
        try transaction.state(
            Receipt(
                collection: collection, document: record.document, version: record.versionID,
                state: .delivered, isRemoved: isGone))
    }

    private func afterPublishing(
        _ candidates: [Candidate], _ outcomes: [PublishOutcome]
    ) async throws {
        for (candidate, outcome) in zip(candidates, outcomes) {
            guard case .failed(let failure) = outcome else { continue }
            let name = candidate.file.joinedPath
            switch failure.reason {
            case .mustRewrite:
                log.warning("\(name) is fetched again: what was staged cannot be trusted")
                try await fetchAgain(candidate.record)
            case .nameRefused:
                try await refuse(candidate.record, .nameRefused, "the outbox refuses the name")
            case .noSpace, .notMounted, .refused:
                let reason: SkipReason = failure.reason == .noSpace ? .noSpace : .notMounted
                try await keepWaiting(
                    candidate.record, reason, failure.error.map(String.init) ?? "")
            }
        }
    }

    /// The staged file stays, and is published when the outbox takes it.
    private func keepWaiting(
        _ record: DeliveryRecord, _ reason: SkipReason, _ detail: String
    ) async throws {
        log.warning("\(record.staged ?? "a file") waits: \(reason.rawValue) \(detail)")
        try await chute.store.write { transaction in
            guard var known = try transaction.row(DeliveryRecord.self, record.key) else { return }
            if let want = known.want { try transaction.unwant(want) }
            known.want = nil
            known.state = .waiting
            known.reason = reason.rawValue
            known.detail = detail
            try transaction.put(known)
            // The intent stays: what an exchange brought out is known by it alone.
        }
    }

    func fetchAgain(_ record: DeliveryRecord) async throws {
        guard let place = placeInUse() else { return }
        if let staged = try stagedFile(record, place) { try staged.discard() }
        let (root, rules, start) = (root, rules, place.staging.start)
        let collection = folder.collection
        let space = try await availableSpace(place)
        try await chute.store.write { transaction in
            try transaction.remove(IntentRecord.self, record.key)
            guard let known = try transaction.row(DeliveryRecord.self, record.key),
                let document = try transaction.document(record.document, in: collection)
            else { return }
            var budget = space
            let writing = DeliveryWriting(
                transaction: transaction, root: root, start: start, rules: rules)
            try writing.fetch(document, known, &budget)
        }
    }

    func refuse(
        _ record: DeliveryRecord, _ reason: SkipReason, _ detail: String
    ) async throws {
        let (root, rules) = (root, rules)
        let collection = folder.collection
        try await chute.store.write { transaction in
            guard let known = try transaction.row(DeliveryRecord.self, record.key),
                let document = try transaction.document(record.document, in: collection)
            else { return }
            let writing = DeliveryWriting(
                transaction: transaction, root: root, start: "", rules: rules)
            try writing.refuse(document, known, reason, detail)
            try transaction.remove(IntentRecord.self, record.key)
        }
    }

    func stagedFile(
        _ record: DeliveryRecord, _ place: Place
    ) throws(SystemError) -> StagedFile? {
        guard let path = record.staged else { return nil }
        let (start, name) = (path.parent, path.lastComponent)
        if start == place.staging.start { return try place.staging.reopen(name) }
        let root = place.publisher.root
        return try StagingFolder.reopen(start, in: root)?.reopen(name)
    }

    private func candidate(
        _ outcome: FetchOutcome, _ record: DeliveryRecord, _ document: Document,
        _ staged: StagedFile, _ place: Place
    ) async throws -> Candidate? {
        guard let file = document.fields.flatMap(FileDocument.init) else { return nil }
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
            record: record, document: document, file: file, layer: outcome.layer,
            item: PublishItem(
                staged: staged, components: components, modified: file.modified,
                replacing: replaced))
    }

    /// The names that the layout gives a file; `nil` where one of them is refused.
    func components(
        for file: FileDocument, _ document: Document, _ place: Place
    ) async throws -> [[UInt8]]? {
        let key = folderKey(root) + document.origin.digest.bytes
        let peer = try await chute.reader.read { try $0.row(PeerFolderRecord.self, key)?.name }
        let values = OutboxLayout.Values(
            peer: peer ?? Array(document.origin.short.utf8), path: file.path,
            type: Array((MIMEType(file.type)?.type ?? "application").utf8),
            collection: Array(folder.collection.utf8), date: CalendarDate(file.modified),
            fallback: Array(document.origin.short.utf8))
        let naming = OutboxNaming(isPortable: place.publisher.kind.isFolding)
        do throws(OutboxNaming.Refusal) { return try naming.name(layout.expand(values)) } catch {
            return nil
        }
    }

    /// Finds the rows of fetched wants, and binds the folder name of each peer at first sight.
    private func namePeers(
        of outcomes: [FetchOutcome]
    ) async throws -> [(FetchOutcome, DeliveryRecord, Document)] {
        let (root, collection) = (root, folder.collection)
        let (found, unnamed) = try await chute.reader.read { snapshot in
            var found: [(FetchOutcome, DeliveryRecord, Document)] = []
            var unnamed: Set<DeviceID> = []
            for outcome in outcomes {
                let rows = try snapshot.rows(
                    DeliveryRecord.self, where: "want", is: folderKey(outcome.want.id), limit: 1)
                guard let record = rows.first,
                    let document = try snapshot.document(record.document, in: collection),
                    document.versionID == record.versionID
                else { continue }
                found.append((outcome, record, document))
                let key = folderKey(root) + document.origin.digest.bytes
                if try snapshot.row(PeerFolderRecord.self, key) == nil {
                    unnamed.insert(document.origin)
                }
            }
            return (found, unnamed.sorted())
        }
        if !unnamed.isEmpty {
            try await chute.store.write { transaction in
                for device in unnamed { try Self.bindName(of: device, root, transaction) }
            }
        }
        return found
    }

    private static func bindName(
        of device: DeviceID, _ root: Int64, _ transaction: Transaction
    ) throws {
        let given = try transaction.profile(of: device)?.name ?? ""
        let name = given.isEmpty ? Array(device.short.utf8) : Array(given.utf8)
        var number = 1
        while true {
            let candidate = OutboxNaming.candidate(name, number, isFolder: true)
            let index = folderKey(root) + candidate
            let taken = try transaction.rows(
                PeerFolderRecord.self, where: "name", is: index, limit: 1)
            if taken.isEmpty {
                return try transaction.put(
                    PeerFolderRecord(root: root, device: device, name: candidate))
            }
            number += 1
        }
    }

    static func wallClock() -> FileStatus.Nanoseconds {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let (scaled, overflow) = Int64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : scaled &+ Int64(now.tv_nsec)
    }
}
