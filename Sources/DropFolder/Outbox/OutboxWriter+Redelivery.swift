import ChuteKit
import ChuteSystem

extension OutboxWriter {
    /// Fetches again what was removed or refused, or notes to do so once the outbox is there; the
    /// number of files.
    ///
    /// The copies concerned are looked at first: the user may have taken them away, or changed
    /// them, a moment ago. A changed one stays as it is, and only who names that very file gets it
    /// again as it was, beside it.
    func redeliver(_ target: BytePath) async throws -> Int {
        let (root, path) = (root, record.path)
        let prefix = folderKey(root)
        let relative = target.relative(to: path) ?? target
        let id = target.string.flatMap { $0.utf8.count >= 8 ? DocumentID(hex: $0) : nil }
        let isNamed: @Sendable (DeliveryRecord) -> Bool = { row in
            if let id, row.document.bytes.starts(with: id.bytes) { return true }
            return row.copy?.path == relative
        }
        let rows = try await chute.store.read { snapshot in
            try snapshot.rows(DeliveryRecord.self, after: prefix)
                .prefix { $0.key.starts(with: prefix) }
                .filter { isNamed($0) || $0.copy?.path.relative(to: relative) != nil }
        }
        let edited = try await noteTouched(among: rows.filter { $0.state == .delivered })
        let due = try await chute.store.read { snapshot in
            try rows.compactMap { try snapshot.row(DeliveryRecord.self, $0.key) }.filter { row in
                switch row.state {
                case .removed, .refused: true
                case .delivered: edited.contains(row.key) && isNamed(row)
                case .fetching, .waiting, .retracted: false
                }
            }
        }
        guard !due.isEmpty else { return 0 }
        guard let place = placeInUse() else { return try await postpone(due) }
        return try await fetch(again: due, place)
    }

    /// Fetches what was refused by limits that are not in force any more: so a changed configuration
    /// counts for what others shared before, too.
    func judgeAnew() async throws {
        let (root, prefix) = (root, DeliveryRecord.stateIndex(root: root, .refused))
        let (collection, rules) = (folder.collection, rules)
        var after: [UInt8] = []
        while let place = placeInUse() {
            let start = after
            let (due, end) = try await chute.store.read { snapshot in
                let page = try snapshot.rows(
                    DeliveryRecord.self, where: "state", is: prefix, after: start,
                    limit: Self.pageCount)
                let due = try page.filter { row in
                    guard row.root == root,
                        let document = try snapshot.document(row.document, in: collection)
                    else { return false }
                    return rules.forFiles(of: document.origin).isOutOfDate(row)
                }
                return (due, page.count == Self.pageCount ? page.last?.key : nil)
            }
            if !due.isEmpty {
                let count = try await fetch(again: due, place, isJudged: true)
                log.info("\(count) of \(due.count) refused files may come to \(record.path) now")
            }
            guard let end else { return }
            after = end
        }
    }

    /// Records what the user did to the copies of these; the keys of those that were changed.
    ///
    /// Also where the outbox is not in use, as in a command that starts no agent.
    private func noteTouched(among records: [DeliveryRecord]) async throws -> Set<[UInt8]> {
        guard !records.isEmpty else { return [] }
        let outbox: FolderRoot
        if let place {
            outbox = place.publisher.root
        } else {
            do throws(SystemError) {
                guard
                    case .ready(let found) = try FolderRoot.open(
                        at: record.path, expected: record.identity)
                else { return [] }
                outbox = found
            } catch {
                log.debug("\(record.path) was not looked through: \(error)")
                return []
            }
        }
        guard let touched = touched(among: records, in: outbox) else { return [] }
        try await note(touched)
        return Set(touched.edited.map(\.key))
    }

    /// `isJudged`: only what the limits allow now, by what its origin says of it.
    private func fetch(
        again due: [DeliveryRecord], _ place: Place, isJudged: Bool = false
    ) async throws -> Int {
        let (root, collection, rules, start) = (root, folder.collection, rules, place.staging.start)
        let promises = promises
        let space = try await availableSpace(place, for: Self.sum(due.map(\.attachment)))
        let peers = try await peerOffer(for: nil)
        let (count, dropped, left) = try await chute.store.write { transaction in
            var writing = DeliveryWriting(
                transaction, root: root, start: start, rules: rules,
                budget: promises.left(of: space), peers: peers.budgets)
            var count = 0
            for record in due {
                guard var known = try transaction.row(DeliveryRecord.self, record.key),
                    known == record,
                    let document = try transaction.document(record.document, in: collection)
                else { continue }
                known.forgetCopy()
                if isJudged, let file = document.fields.flatMap(FileDocument.init),
                    case .refuse(let reason, let detail) = rules.forFiles(of: document.origin)
                        .refusal(type: file.type, byteCount: file.attachment.byteCount)
                {
                    try writing.refuse(document, known, reason, detail)
                    continue
                }
                try writing.fetch(document, known)
                count += 1
            }
            _ = promises.promise(writing.budget, of: space, to: root)
            return (count, writing.dropped, writing.peers)
        }
        settle(left, of: peers)
        try await discard(dropped)
        return count
    }

    /// Lets these wait as what could not be taken: that is tried again by itself.
    private func postpone(_ due: [DeliveryRecord]) async throws -> Int {
        try await chute.store.write { transaction in
            var count = 0
            for record in due {
                guard var waiting = try transaction.row(DeliveryRecord.self, record.key),
                    waiting == record
                else { continue }
                waiting.forgetCopy()
                waiting.state = .waiting
                waiting.reason = SkipReason.notMounted.rawValue
                waiting.detail = "comes again once the outbox is there"
                try transaction.put(waiting)
                count += 1
            }
            return count
        }
    }
}

extension DeliveryRecord {
    /// What the user removed or changed is nothing that the file to come may replace. Of a refused
    /// version the one before is still there, and is replaced.
    fileprivate mutating func forgetCopy() {
        guard state != .refused else { return }
        copy = nil
        isUsersOwn = false
    }
}
