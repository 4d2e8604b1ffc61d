import ChuteKit
import ChuteSystem

/// What there is to do: new documents, and those that wait.
extension OutboxWriter {
    func lookAtNewDocuments() async throws {
        guard let place = placeInUse() else { return }
        let start = place.staging.start
        while true {
            let (collection, after) = (folder.collection, learned)
            let page = try await chute.store.read {
                try $0.documents(
                    in: collection, learnedAfter: after, limit: Self.pageCount)
            }
            guard let last = page.last else { return }
            let (root, rules, key, own) = (root, rules, record.key, chute.device)
            let promises = promises
            let foreign = page.filter { $0.origin != own }
            let needed = foreign.compactMap { $0.fields.flatMap(FileDocument.init) }
            // Own documents are passed over again after a restart, which costs less than a commit
            // for each of them.
            guard !foreign.isEmpty || page.count == Self.pageCount else {
                learned = last.learned
                return
            }
            let space = try await availableSpace(place, for: Self.sum(needed.map(\.attachment)))
            let peers = try await peerOffer(for: Self.sumByOrigin(foreign))
            // Done before it counts as learned, so that a crash does not lose it.
            for document in try await toMoveOrRetract(page) { try await moveOrRetract(document) }
            guard placeInUse() != nil else { return }
            let (dropped, left) = try await chute.store.write(durable: .withNext) { transaction in
                var writing = DeliveryWriting(
                    transaction, root: root, start: start, rules: rules,
                    budget: promises.left(of: space), peers: peers.budgets)
                for document in foreign { try writing.decide(document) }
                if var folder = try transaction.row(FolderRecord.self, key) {
                    folder.learned = last.learned
                    try transaction.put(folder)
                }
                _ = promises.promise(writing.budget, of: space, to: root)
                return (writing.dropped, writing.peers)
            }
            learned = last.learned
            settle(left, of: peers)
            try await discard(dropped)
            if page.count < Self.pageCount { return }
        }
    }

    /// The documents whose copy here is renamed or taken back by its origin.
    private func toMoveOrRetract(_ page: [OwnedDocument]) async throws -> [OwnedDocument] {
        let (root, rules, own) = (root, rules, chute.device)
        return try await chute.store.read { snapshot in
            try page.filter { document in
                guard document.origin != own else { return false }
                let key = DeliveryRecord.key(root: root, document.id)
                let record = try snapshot.row(DeliveryRecord.self, key)
                return [.move, .retract].contains(
                    DeliveryDecision.of(document, record, rules))
            }
        }
    }

    /// Ends what waits for documents that are not to be seen any more.
    func endForgotten() async throws {
        guard let place = placeInUse() else { return }
        let (collection, root) = (folder.collection, root)
        let states = [DeliveryRecord.State.fetching, .waiting, .refused].map {
            DeliveryRecord.stateIndex(root: root, $0)
        }
        let forgotten = try await chute.store.read { snapshot in
            try states.flatMap {
                try snapshot.rows(DeliveryRecord.self, where: "state", is: $0)
            }.filter { try snapshot.document($0.document, in: collection) == nil }
        }
        guard !forgotten.isEmpty else { return }
        let (rules, start) = (rules, place.staging.start)
        let dropped = try await chute.store.write { transaction in
            var writing = DeliveryWriting(transaction, root: root, start: start, rules: rules)
            for record in forgotten {
                guard try transaction.document(record.document, in: collection) == nil,
                    let known = try transaction.row(DeliveryRecord.self, record.key)
                else { continue }
                try writing.forget(known)
            }
            return writing.dropped
        }
        try await discard(dropped)
    }

    /// Removes staged files that no row names any more.
    func discard(_ dropped: [DeliveryWriting.Dropped]) async throws {
        for file in dropped {
            guard let place = placeInUse() else { return }  // left to the reaper
            if unsettled.contains(file.key) {
                // The user's own file may lie there.
                try await settle(file.key)
            } else {
                try stagedFile(file.staged, place)?.discard()
            }
        }
    }

    /// Tries again what could not be taken before: publishes what is staged, fetches the rest.
    func retryWaiting() async throws {
        var publishes = true
        // As long as one is refused the others mostly will be, too: any of them is the first.
        for key in unsettled.shuffled() where publishes {
            try await settle(key)
            publishes = !unsettled.contains(key)
        }
        let index = DeliveryRecord.stateIndex(root: root, .waiting)
        var after: [UInt8] = []
        var space: SpaceOffer?
        while let place = placeInUse() {
            let start = after
            let page = try await chute.store.read {
                try $0.rows(
                    DeliveryRecord.self, where: "state", is: index, after: start,
                    limit: Self.pageCount)
            }
            guard let last = page.last else { return }
            after = last.key
            var again: [DeliveryRecord] = []
            for record in page where record.want == nil && !unsettled.contains(record.key) {
                guard let staged = record.staged, let file = try stagedFile(staged, place) else {
                    again.append(record)
                    continue
                }
                guard publishes else { continue }
                guard let candidate = try await candidate(kept: file, record, place) else {
                    again.append(record)
                    continue
                }
                kept[staged] = nil
                try await publish([candidate], place)
                publishes = kept[staged] == nil
            }
            guard !again.isEmpty else { continue }
            // Counted once for all of them, and exactly: that is what they wait for.
            if space == nil { space = try await availableSpace(place, for: .max) }
            guard let left = space else { return }
            space = try await fetch(
                again.filter { !$0.waits(for: left.budget) }, place, within: left)
        }
    }

    /// Asks anew for the bytes of these, as far as there is space; what is left of it.
    func fetch(
        _ records: [DeliveryRecord], _ place: Place, within space: SpaceOffer
    ) async throws -> SpaceOffer {
        guard !records.isEmpty else { return space }
        let (root, rules, start) = (root, rules, place.staging.start)
        let (collection, promises) = (folder.collection, promises)
        let peers = try await peerOffer(for: nil)
        let (left, dropped, peersLeft) = try await chute.store.write { transaction in
            var writing = DeliveryWriting(
                transaction, root: root, start: start, rules: rules,
                budget: promises.left(of: space), peers: peers.budgets)
            for record in records {
                guard let known = try transaction.row(DeliveryRecord.self, record.key),
                    known == record,
                    let document = try transaction.document(record.document, in: collection)
                else { continue }
                try writing.fetch(document, known)
            }
            return (
                promises.promise(writing.budget, of: space, to: root), writing.dropped,
                writing.peers
            )
        }
        settle(peersLeft, of: peers)
        try await discard(dropped)
        return left
    }

    static func sum(_ attachments: [AttachmentID]) -> UInt64 {
        attachments.reduce(0) { $0.addingReportingOverflow($1.byteCount).partialValue }
    }
}

extension DeliveryRecord {
    /// Whether it has been said already that it does not fit into `space`, and it still does not.
    fileprivate func waits(for space: SpaceBudget) -> Bool {
        staged == nil && reason == space.reason.rawValue && attachment.byteCount > space.left
    }
}
