import ChuteKit
import ChuteSystem

/// What there is to do: new documents, and those that wait.
extension OutboxWriter {
    func lookAtNewDocuments() async throws {
        guard let place = placeInUse() else { return }
        let start = place.staging.start
        while true {
            let (collection, after) = (folder.collection, learned)
            let page = try await chute.reader.read {
                try $0.documents(
                    in: collection, learnedAfter: after, limit: Self.pageCount)
            }
            guard let last = page.last else { return }
            let (root, rules, key, own) = (root, rules, record.key, chute.device)
            let space = try await availableSpace(place)
            // Done before it counts as learned, so that a crash does not lose it.
            for document in try await toMoveOrRetract(page) { try await moveOrRetract(document) }
            guard placeInUse() != nil else { return }
            try await chute.store.write(durable: .withNext) { transaction in
                var budget = space
                for document in page where document.origin != own {
                    let writing = DeliveryWriting(
                        transaction: transaction, root: root, start: start, rules: rules)
                    try writing.decide(document, &budget)
                }
                if var folder = try transaction.row(FolderRecord.self, key) {
                    folder.learned = last.learned
                    try transaction.put(folder)
                }
            }
            learned = last.learned
            if page.count < Self.pageCount { return }
        }
    }

    /// The documents whose copy here is renamed or taken back by its origin.
    private func toMoveOrRetract(_ page: [Document]) async throws -> [Document] {
        let (root, rules, own) = (root, rules, chute.device)
        return try await chute.reader.read { snapshot in
            try page.filter { document in
                guard document.origin != own else { return false }
                let key = DeliveryRecord.key(root: root, document.id)
                let record = try snapshot.row(DeliveryRecord.self, key)
                return [.move, .retract].contains(
                    DeliveryDecision.of(document, record, rules))
            }
        }
    }

    /// The space that may still be taken: what is free less what must stay so, within what the
    /// outbox may hold altogether.
    func availableSpace(_ place: Place) async throws -> SpaceBudget {
        let info = try FileSystemInfo.of(
            descriptor: place.publisher.root.folder.descriptor.raw)
        let hasNames = info.freeFiles.map { $0 > 16 } ?? true
        let free =
            hasNames && info.freeBytes > folder.minFree ? info.freeBytes - folder.minFree : 0
        guard let total = folder.maxTotal else {
            return SpaceBudget(available: free, reason: .noSpace)
        }
        let root = root
        let used = try await chute.reader.read { try $0.byteCount(inRoot: root) }
        let quota = total > used ? total - used : 0
        return SpaceBudget(
            available: min(free, quota), reason: quota < free ? .overQuota : .noSpace)
    }

    func retryWaiting() async throws {
        guard let place = placeInUse() else { return }
        let index = DeliveryRecord.stateIndex(root: root, .waiting)
        let waiting = try await chute.reader.read {
            try $0.rows(DeliveryRecord.self, where: "state", is: index, limit: 1024)
        }
        let again = waiting.filter { $0.want == nil }.map(\.key)
        guard !again.isEmpty else { return }
        let (root, rules, start) = (root, rules, place.staging.start)
        let (collection, space) = (folder.collection, try await availableSpace(place))
        try await chute.store.write { transaction in
            var budget = space
            for key in again {
                guard let record = try transaction.row(DeliveryRecord.self, key),
                    record.state == .waiting, record.want == nil,
                    let document = try transaction.document(record.document, in: collection)
                else { continue }
                let writing = DeliveryWriting(
                    transaction: transaction, root: root, start: start, rules: rules)
                try writing.fetch(document, record, &budget)
            }
        }
    }
}
