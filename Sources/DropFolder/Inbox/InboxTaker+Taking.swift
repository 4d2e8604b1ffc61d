import ChuteKit
import ChuteSystem
import Glibc

/// The way of a file out of the inbox, as far as `.chute/taken/`.
extension InboxTaker {
    /// What was found about a candidate under its name.
    private struct Prepared: Sendable {
        let candidate: Candidate
        let held: HeldFiles.Held?
        let heldPrint: FileFingerprint?
    }

    /// Takes files away, as far as each look and each decision on the way allows.
    func take(_ batch: [Candidate], in inbox: InboxRoot, to target: MoveTarget?) async throws {
        var prepared: [Prepared] = []
        defer { holder.release() }
        // A look is dear, a question is not.
        let keepers = try await keepers(of: batch.map(\.row.attachment))
        for candidate in batch {
            if let keepers, keepers[candidate.row.attachment] == nil {
                wait(candidate, .unconfirmed)
                continue
            }
            if let ready = prepare(candidate, in: inbox, target) { prepared.append(ready) }
        }
        guard !prepared.isEmpty else { return }
        let aside: TakenFolder
        do throws(SystemError) {
            guard let folder = try TakenFolder(in: inbox) else { return }
            aside = folder
        } catch {
            for ready in prepared {
                wait(ready.candidate, .failed("it cannot be set aside: \(error)"))
            }
            return
        }
        var inHand: [TakeRecord] = []
        var left: [TakeRecord] = []
        for record in try await begin(prepared, keepers) {
            do throws(SystemError) {
                if try aside.setAside(record.path, as: record.name) {
                    inHand.append(record)
                } else {
                    left.append(record)
                }
            } catch {
                wait(record.document, record.path, .failed("it cannot be set aside: \(error)"))
                left.append(record)
            }
        }
        try await forget(left)
        do throws(SystemError) { try aside.sync(after: inHand.map(\.path)) } catch {
            for record in inHand {
                wait(record.document, record.path, .failed("\(error)"))
                try await bringBack(record, aside)
            }
            return
        }
        try await finish(inHand, aside, to: target)
    }

    private func wait(_ candidate: Candidate, _ reason: TakeWaits.Reason) {
        wait(candidate.row.document, candidate.row.path, reason)
    }

    /// Looks at the file where the user put it; `nil` where it stays. Nothing is changed but that
    /// a copy may be held.
    private func prepare(
        _ candidate: Candidate, in inbox: InboxRoot, _ target: MoveTarget?
    ) -> Prepared? {
        let row = candidate.row
        do throws(SystemError) {
            let file = try inbox.folder.open(row.path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            switch try look(at: file, row.fingerprint) {
            case .free: break
            case .busy:
                wait(candidate, .busy)
                return nil
            case .unknown:
                wait(candidate, .unknown)
                return nil
            case .changed, .missing: return nil  // the watcher sees to that
            }
            if let target, try !hasRoom(target, inbox, row) {
                wait(candidate, .failed("there is no space for it in \(target.root.path)"))
                return nil
            }
            guard candidate.needsHeld, row.attachment.byteCount > 0 else {
                return Prepared(candidate: candidate, held: nil, heldPrint: nil)
            }
            guard let held = try hold(row, file, in: inbox) else {
                wait(candidate, .notHeld)
                return nil
            }
            let status = try inbox.folder.status(of: held.path)
            return Prepared(
                candidate: candidate, held: held, heldPrint: status.map { FileFingerprint($0) })
        } catch {
            // Gone, or something else than a file: the watcher sees to that.
            let isOther = [ELOOP, ENXIO, ENODEV].contains(error.code)
            if !error.isNotFound, !isOther { wait(candidate, .failed("\(error)")) }
            return nil
        }
    }

    func look(
        at file: borrowing FileDescriptor, _ expected: FileFingerprint
    ) throws(SystemError) -> TakeLook {
        let status = try file.status()
        guard status.kind == .regular else { return .changed }
        let lease = try probe.state(of: file)
        return TakeLook.of(FileFingerprint(status), expected: expected, lease: lease)
    }

    /// Whether another file system has room for a copy. Within one, nothing is needed.
    private func hasRoom(
        _ target: MoveTarget, _ inbox: InboxRoot, _ row: InboxRecord
    ) throws(SystemError) -> Bool {
        let root = target.root
        guard try root.folder.status().device != inbox.status.device else { return true }
        let info = try FileSystemInfo.of(descriptor: root.folder.descriptor.raw)
        return info.freeBytes > row.attachment.byteCount && info.freeFiles != 0
    }

    /// A held copy that stands: checked, synced, and made anew where it is not what it should be.
    /// `nil` where none can be.
    private func hold(
        _ row: InboxRecord, _ file: borrowing FileDescriptor, in inbox: InboxRoot
    ) throws(SystemError) -> HeldFiles.Held? {
        let own = InodeIdentity(try file.status())
        if let path = row.held,
            let isLink = try stands(path, row.attachment, own, in: inbox)
        {
            return HeldFiles.Held(path: path, isOwned: !isLink, isKnown: true)
        }
        guard let made = try holder.hold(file, row.path, row.attachment, in: inbox),
            try stands(made.path, row.attachment, own, in: inbox) != nil
        else { return nil }
        return made
    }

    /// Whether the held file has the bytes, durably; whether it is the file itself, under a second
    /// name: then the look at one is the look at both. `nil` where it has not.
    func stands(
        _ path: BytePath, _ attachment: AttachmentID, _ own: InodeIdentity?, in inbox: InboxRoot
    ) throws(SystemError) -> Bool? {
        do throws(SystemError) {
            let file = try inbox.folder.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            let status = try file.status()
            guard status.kind == .regular, status.size == attachment.byteCount else { return nil }
            let isLink = InodeIdentity(status) == own
            if !isLink, try digest(of: file, status.size) != attachment {
                if Task.isCancelled { throw SystemError(code: ECANCELED, call: "hash") }
                return nil
            }
            try file.sync()
            try inbox.folder.folder(at: path.parent).sync()
            return isLink
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// `nil` where the work is to end.
    func digest(
        of file: borrowing FileDescriptor, _ size: UInt64
    ) throws(SystemError) -> AttachmentID? {
        do {
            return try hasher.hash(descriptor: file.raw, expectedLength: size)?.attachment
        } catch {
            throw error as? SystemError ?? SystemError(code: EIO, call: "hash: \(error)")
        }
    }

    /// Writes down what is about to be set aside, of what is still as it was decided on.
    private func begin(_ prepared: [Prepared], _ keepers: Keepers?) async throws -> [TakeRecord] {
        let (collection, root, others) = (settings.collection, settings.root, others)
        let (begun, unconfirmed) = try await chute.store.write { transaction in
            let others = try others(transaction, keepers)
            var records: [TakeRecord] = []
            var unconfirmed: [Candidate] = []
            for ready in prepared {
                let decided = ready.candidate
                guard var row = try transaction.row(InboxRecord.self, decided.row.key),
                    row.document == decided.row.document,
                    row.attachment == decided.row.attachment,
                    row.fingerprint.hasSameContentTimes(as: decided.row.fingerprint),
                    let document = try transaction.document(row.document, in: collection),
                    document.versionID == decided.version
                else { continue }
                let decision = TakeDecision.of(try transaction.takeFacts(row, document, others))
                if decision == .stay(.unconfirmed) { unconfirmed.append(decided) }
                guard case .take(let needsHeld) = decision, !needsHeld || decided.needsHeld
                else { continue }
                if let held = ready.held, let print = ready.heldPrint {
                    row.held = held.path
                    try transaction.put(row)
                    // Whatever was believed of it before: it stands, and peers get it from there.
                    try transaction.addLocation(
                        Location(
                            root: root, path: held.path, fingerprint: print.encoded,
                            isOwned: held.isOwned), of: row.attachment)
                }
                let record = TakeRecord(
                    row, version: decided.version, held: ready.held.map(\.path))
                try transaction.put(record)
                records.append(record)
            }
            return (records, unconfirmed)
        }
        for candidate in unconfirmed { wait(candidate, .unconfirmed) }
        return begun
    }
}
