import ChuteKit
import ChuteSystem

/// Letting held files go once every member that takes them has them.
extension Ingestor {
    private static let retentionPause = Duration.seconds(20)
    private static let pageCount = 256

    /// Looks again after receipts came, at most every 20 s.
    func releaseDelivered() async throws {
        for await _ in chute.store.updates(of: [.receipts, .members]) {
            if retention != .forever { try await releaseOnce() }
            try await Task.pause(for: Self.retentionPause, tolerance: .seconds(10))
        }
    }

    private struct Due: Sendable {
        var rows: [InboxRecord] = []
        var orphans: [OrphanRecord] = []
        /// Of these nothing else is here: somebody must say now to have it.
        var only: [DocumentID: AttachmentID] = [:]
        var members: Set<DeviceID> = []
    }

    /// Leaves out what nobody says to have still, though there are receipts: users edit and move
    /// what was delivered to them.
    private func confirmed(_ due: Due) async -> Due {
        guard !due.only.isEmpty else { return due }
        var rest = Array(Set(due.only.values))[...]
        var kept: Set<AttachmentID> = []
        while !rest.isEmpty {
            let asked = rest.prefix(Self.pageCount)
            kept.formUnion(await chute.keepers(of: Array(asked), among: due.members).keys)
            rest = rest.dropFirst(asked.count)
        }
        func isSafe(_ document: DocumentID) -> Bool {
            due.only[document].map(kept.contains) ?? true
        }
        var safe = due
        safe.rows = due.rows.filter { isSafe($0.document) }
        safe.orphans = due.orphans.filter { isSafe($0.document) }
        return safe
    }

    /// The wall clock, in seconds since 1970.
    private static func seconds() -> UInt64 {
        UInt64(max(0, FileStatus.now / 1_000_000_000))
    }

    private func releaseOnce() async throws {
        let (root, collection, now) = (root, collection, Self.seconds())
        let held = folderKey(root)
        var after: [UInt8] = []
        while let inbox = watcher.root {
            let start = after
            let old = heldTooLong(in: inbox)
            let (due, end) = try await chute.store.read { snapshot in
                let members = try snapshot.recipients().map(\.id)
                let page = try snapshot.rows(
                    InboxRecord.self, where: "held", is: held, after: start,
                    limit: Self.pageCount)
                let takers = try snapshot.takers(of: collection, among: members, now: now)
                var due = Due(members: Set(members))
                due.rows = try page.filter { row in
                    guard let held = row.held else { return false }
                    // What lies in the inbox is no only copy, whatever others did with theirs.
                    let isHere = !row.wasSeenAbsent
                    guard
                        try isHere
                            || snapshot.isKept(row.document, in: collection, by: members)
                    else { return false }
                    return try snapshot.isAnswered(row.document, in: collection, by: takers)
                        || old.contains(held)
                            && snapshot.isDelivered(row.document, in: collection)
                }
                for row in due.rows where row.wasSeenAbsent {
                    due.only[row.document] = try snapshot.attachment(
                        of: row.document, in: collection)
                }
                return (due, page.count == Self.pageCount ? page.last?.key : nil)
            }
            try await release(await confirmed(due), in: inbox)
            guard let end else { break }
            after = end
        }
        try await releaseOrphans()
    }

    private func releaseOrphans() async throws {
        let (root, collection, now) = (root, collection, Self.seconds())
        let prefix = folderKey(root)
        let due = try await chute.store.read { snapshot in
            let members = try snapshot.recipients().map(\.id)
            let takers = try snapshot.takers(of: collection, among: members, now: now)
            let orphans = try snapshot.rows(OrphanRecord.self, after: prefix)
                .prefix { $0.key.starts(with: prefix) }
            var due = Due(members: Set(members))
            due.orphans = try orphans.filter {
                try snapshot.isAnswered($0.document, in: collection, by: takers)
                    && snapshot.isKept($0.document, in: collection, by: members)
            }
            for orphan in due.orphans {
                due.only[orphan.document] = try snapshot.attachment(
                    of: orphan.document, in: collection)
            }
            return due
        }
        let safe = await confirmed(due)
        guard let inbox = watcher.root else { return }
        try await release(safe, in: inbox)
    }

    /// The held files that are older than a limited retention.
    private func heldTooLong(in inbox: InboxRoot) -> Set<BytePath> {
        guard case .atMost(let limit) = retention else { return [] }
        let oldest = FileStatus.now - limit.components.seconds * 1_000_000_000
        do throws(SystemError) {
            var old: Set<BytePath> = []
            for name in try holder.names(in: inbox) {
                if let status = try inbox.folder.status(of: name), status.changed < oldest {
                    old.insert(name)
                }
            }
            return old
        } catch {
            // The drive's fault: nothing is too old before it is seen.
            log.debug("what is held was not looked through: \(error)")
            return []
        }
    }

    /// Records first, then unlinks; and takes the fingerprint anew, which unlinking moves.
    private func release(_ due: Due, in inbox: InboxRoot) async throws {
        guard !due.rows.isEmpty || !due.orphans.isEmpty else { return }
        let (root, collection) = (root, collection)
        let undecidedHeld = Set(undecided.compactMap(\.file.held))
        let gone = try await chute.store.write { transaction in
            for row in due.rows {
                guard var known = try transaction.row(InboxRecord.self, row.key),
                    let held = known.held, held == row.held,
                    known.wasSeenAbsent == row.wasSeenAbsent  // who else has it was not asked
                else { continue }
                known.held = nil
                try transaction.put(known)
                guard !known.wasSeenAbsent else { continue }
                try transaction.addLocation(
                    Location(
                        root: root, path: known.path, fingerprint: known.fingerprint.encoded,
                        isOwned: false), of: known.attachment)
            }
            for orphan in due.orphans {
                try transaction.remove(OrphanRecord.self, orphan.key)
            }
            let writer = InboxWriting(
                transaction: transaction, root: root, collection: collection, inbox: inbox)
            return try writer.unneeded(
                among: due.rows.compactMap(\.held) + due.orphans.map(\.held),
                undecided: undecidedHeld)
        }
        for held in gone { holder.drop(held, in: inbox) }
        var fresh: [(InboxRecord, FileFingerprint)] = []
        for row in due.rows where !row.wasSeenAbsent {
            guard let status = try? inbox.folder.status(of: row.path) else { continue }
            let print = FileFingerprint(status)
            if print.hasSameContentTimes(as: row.fingerprint) { fresh.append((row, print)) }
        }
        let refreshed = fresh
        try await chute.store.write { transaction in
            for (row, print) in refreshed {
                guard var known = try transaction.row(InboxRecord.self, row.key),
                    known.fingerprint == row.fingerprint
                else { continue }
                known.fingerprint = print
                try transaction.put(known)
                try transaction.addLocation(
                    Location(
                        root: root, path: known.path, fingerprint: print.encoded,
                        isOwned: false), of: known.attachment)
            }
        }
    }

    /// When the inbox comes: held files that no row names go.
    func reconcileHeld() async throws {
        guard let inbox = watcher.root else { return }
        let names: [BytePath]
        do throws(SystemError) { names = try holder.names(in: inbox) } catch {
            return log.debug("what is held was not looked through: \(error)")
        }
        guard !names.isEmpty else { return }
        let prefix = folderKey(root)
        let kept = try await chute.store.read { snapshot in
            let rows = try snapshot.rows(InboxRecord.self, where: "held", is: prefix)
            let orphans = try snapshot.rows(OrphanRecord.self, after: prefix)
                .prefix { $0.key.starts(with: prefix) }
            return Set(rows.compactMap(\.held)).union(orphans.map(\.held))
        }
        let undecided = Set(undecided.compactMap(\.file.held))
        for name in names where !kept.contains(name) && !undecided.contains(name) {
            holder.drop(name, in: inbox)
        }
    }
}
