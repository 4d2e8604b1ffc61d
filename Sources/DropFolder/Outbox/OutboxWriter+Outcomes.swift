import ChuteKit
import ChuteSystem

/// What becomes of fetched files that got no name.
extension OutboxWriter {
    /// Refuses a file by its beginning, or asks for the rest.
    func judgeSample(_ outcome: FetchOutcome, _ place: Place) async throws {
        guard let (_, record, document) = try await namePeers(of: [outcome]).first,
            let file = document.fields.flatMap(FileDocument.init), let path = record.staged
        else { return }
        guard let staged = try stagedFile(path, place) else { return try await fetchAgain(record) }
        let type = try detector.type(
            of: staged.descriptor, size: staged.descriptor.status().size,
            name: BytePath(bytes: file.path.last ?? []))
        let judged = rules.forFiles(of: document.origin).refusal(of: type)
        if case .refuse(let reason, let detail)? = judged {
            try staged.discard()
            return try await refuse(record, reason, detail)
        }
        let (root, rules, start) = (root, rules, place.staging.start)
        try await chute.store.write { transaction in
            guard let known = try transaction.row(DeliveryRecord.self, record.key),
                known == record
            else { return }
            let writing = DeliveryWriting(transaction, root: root, start: start, rules: rules)
            try writing.fetchRest(document, known, of: outcome.want)
        }
    }

    func afterPublishing(
        _ candidates: [Candidate], _ outcomes: [PublishOutcome]
    ) async throws {
        for (candidate, outcome) in zip(candidates, outcomes) {
            guard case .failed(let failure) = outcome else { continue }
            let name = candidate.file.joinedPath
            switch failure.reason {
            case .mustRewrite:
                log.warning("\(name) is fetched again: what was staged cannot be trusted")
                try await fetchAgain(candidate.record, discarding: candidate.item.staged)
            case .nameRefused:
                try await refuse(candidate.record, .nameRefused, "the outbox refuses the name")
            case .noSpace, .notMounted, .refused:
                let reason: SkipReason =
                    switch failure.reason {
                    case .noSpace: .noSpace
                    case .notMounted: .notMounted
                    default: .unwritable
                    }
                try await keepWaiting(candidate, reason, failure.error.map(String.init) ?? "")
            }
        }
    }

    /// The staged file stays, and is published when the outbox takes it.
    private func keepWaiting(
        _ candidate: Candidate, _ reason: SkipReason, _ detail: String
    ) async throws {
        let (record, staged) = (candidate.record, candidate.item.staged)
        if record.reason != reason.rawValue || record.detail != detail {
            log.warning("\(candidate.file.joinedPath) waits: \(reason.rawValue) \(detail)")
        }
        try await chute.store.write { transaction in
            guard let old = try transaction.row(DeliveryRecord.self, record.key) else { return }
            var known = old
            if let want = old.want { try transaction.unwant(want) }
            known.want = nil
            known.state = .waiting
            known.reason = reason.rawValue
            known.detail = detail
            if known != old { try transaction.put(known, over: old) }
            // The intent stays: what an exchange brought out is known by it alone.
        }
        unsettled.insert(record.key)
        let path = staged.staging.start.appending(staged.name)
        if try staged.isStaged() { kept[path] = CopyFingerprint(try staged.descriptor.status()) }
    }

    /// Fetches a version anew. What was staged is removed if it is given: only who knows that no
    /// exchange brought a file of the user's there may say so.
    func fetchAgain(
        _ record: DeliveryRecord, discarding staged: StagedFile? = nil
    ) async throws {
        guard let place = placeInUse() else { return }
        try staged?.discard()
        let (root, rules, start) = (root, rules, place.staging.start)
        let (collection, promises) = (folder.collection, promises)
        let space = try await availableSpace(place, for: record.attachment.byteCount)
        let peers = try await peerOffer(for: nil)
        let left = try await chute.store.write { transaction in
            try transaction.remove(IntentRecord.self, record.key)
            guard let known = try transaction.row(DeliveryRecord.self, record.key),
                let document = try transaction.document(record.document, in: collection)
            else { return peers.budgets }
            var writing = DeliveryWriting(
                transaction, root: root, start: start, rules: rules,
                budget: promises.left(of: space), peers: peers.budgets)
            try writing.fetch(document, known)
            _ = promises.promise(writing.budget, of: space, to: root)
            return writing.peers
        }
        settle(left, of: peers)
        unsettled.remove(record.key)
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
            var writing = DeliveryWriting(transaction, root: root, start: "", rules: rules)
            try writing.refuse(document, known, reason, detail)
            try transaction.remove(IntentRecord.self, record.key)
        }
    }
}
