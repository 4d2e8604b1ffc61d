import ChuteKit
import ChuteSystem

/// What the user did to delivered copies, and what their origin wants of them.
extension OutboxWriter {
    /// Looks whether delivered copies are where they were put. What is gone stays gone.
    func checkCopies() async throws {
        guard let place = placeInUse() else { return }
        let prefix = folderKey(root)
        var after = prefix
        while true {
            let start = after
            let page = try await chute.store.read { snapshot in
                try snapshot.rows(DeliveryRecord.self, after: start, limit: 512)
                    .prefix { $0.key.starts(with: prefix) }
            }
            guard let last = page.last else { return }
            after = last.key
            let delivered = page.filter { $0.state == .delivered }
            guard let touched = touched(among: delivered, in: place.publisher.root) else { return }
            try await note(touched)
        }
    }

    /// Copies that are not as they were delivered.
    struct TouchedCopies {
        /// Not under their names any more.
        var gone: [DeliveryRecord] = []
        /// The same files, with other bytes or another time.
        var edited: [DeliveryRecord] = []
    }

    /// Looks at the copies of these; `nil` where the outbox is not in place: an unmounted folder
    /// says nothing. What cannot be looked at counts as untouched. Blocks.
    func touched(among records: [DeliveryRecord], in outbox: FolderRoot) -> TouchedCopies? {
        var touched = TouchedCopies()
        for record in records {
            guard let copy = record.copy else { continue }
            let status: FileStatus?
            do throws(SystemError) { status = try outbox.folder.status(of: copy.path) } catch {
                log.debug("\(copy.path) was not looked at: \(error)")
                continue
            }
            guard let status, InodeIdentity(status) == copy.fingerprint.identity else {
                touched.gone.append(record)
                continue
            }
            if !CopyFingerprint(status).isSameButChanged(copy.fingerprint) {
                touched.edited.append(record)
            }
        }
        return outbox.isInPlace() ? touched : nil
    }

    /// Records that the user took copies away, or changed them.
    func note(_ touched: TouchedCopies) async throws {
        let (gone, edited) = (touched.gone, touched.edited)
        guard !gone.isEmpty || !edited.isEmpty else { return }
        let (root, collection) = (root, folder.collection)
        try await chute.store.write { transaction in
            for record in gone {
                guard var known = try transaction.row(DeliveryRecord.self, record.key),
                    known == record, let copy = known.copy
                else { continue }
                known.state = .removed
                try transaction.put(known)
                try transaction.removeLocation(of: copy, root: root)
                try transaction.state(
                    Receipt(
                        collection: collection, document: known.document,
                        version: known.versionID, state: .delivered, isRemoved: true))
            }
            for record in edited {
                guard try transaction.row(DeliveryRecord.self, record.key) == record,
                    let copy = record.copy
                else { continue }
                try transaction.removeLocation(of: copy, root: root)
            }
        }
    }

    /// The origin renamed a delivered file, or took it back.
    func moveOrRetract(_ document: OwnedDocument) async throws {
        guard let place = placeInUse() else { return }
        let key = DeliveryRecord.key(root: root, document.id)
        guard var record = try await chute.store.read({ try $0.row(DeliveryRecord.self, key) })
        else { return }
        guard let file = document.fields.flatMap(FileDocument.init) else {
            return try await retract(record, document, place)
        }
        record.version = document.version
        record.versionID = document.versionID
        var old: DeliveredCopy?
        // Also what counts as removed: a power cut can take back the version that moved the copy,
        // and leave the copy at its new name.
        if let copy = record.copy, !record.isUsersOwn,
            let components = try await components(for: file, document, place)
        {
            switch place.publisher.moveCopy(copy, to: components) {
            case .moved(let moved):
                old = copy
                record.copy = moved
                record.state = .delivered
            case .touched: break
            case .failed(let failure):
                // Renamed, and not known to last: looked for again once the folder is opened anew.
                if let error = failure.error,
                    try place.publisher.root.folder.status(of: copy.path) == nil
                {
                    throw error
                }
                log.warning(
                    "\(copy.path) keeps its name: \(failure.error?.description ?? "refused")")
            }
        }
        let (root, collection, changed, former) = (root, folder.collection, record, old)
        try await chute.store.write { transaction in
            try transaction.put(changed)
            if let former, let copy = changed.copy {
                try transaction.removeLocation(of: former, root: root)
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
    private func retract(
        _ record: DeliveryRecord, _ document: OwnedDocument, _ place: Place
    ) async throws {
        if folder.onRetract == .trash, let copy = record.copy, !record.isUsersOwn {
            do throws(SystemError) {
                let trash = try place.publisher.root.privateFolder("trash")
                let name = BytePath(
                    bytes: OutboxNaming.shortened(
                        Array("\(record.document.hex.prefix(16))-".utf8)
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
        let (root, rules, start) = (root, rules, place.staging.start)
        let dropped = try await chute.store.write { transaction in
            var writing = DeliveryWriting(transaction, root: root, start: start, rules: rules)
            try writing.withdraw(record, document)
            if let copy = record.copy {
                try transaction.removeLocation(of: copy, root: root)
            }
            return writing.dropped
        }
        try await discard(dropped)
    }
}
