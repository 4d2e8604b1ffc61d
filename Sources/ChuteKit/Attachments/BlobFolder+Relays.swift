import ChuteSystem

/// Attachments that are here for other devices alone: bounded, never counted as held, and the
/// first to go.
extension BlobFolder {
    /// So much of the disk is left free by what is here for others.
    private static let spareByteCount: UInt64 = 256 << 20

    /// Takes up what an earlier run left; what it had not fetched is forgotten.
    func loadRelays() async throws {
        let root = root
        let (here, gone) = try await reader.read { snapshot in
            var here: [RelayRecord] = []
            var gone: [RelayRecord] = []
            for record in try snapshot.rows(RelayRecord.self) {
                if try snapshot.blob(of: record.attachment, inRoot: root) != nil {
                    here.append(record)
                } else {
                    gone.append(record)
                }
            }
            return (here, gone)
        }
        relays.with { ledger in
            for record in here { ledger.add(record.attachment, used: record.used) }
        }
        guard !gone.isEmpty else { return }
        try await store.write { transaction in
            for record in gone { try transaction.remove(RelayRecord.self, record.key) }
        }
    }

    /// Whether the disk has room for more of it.
    func hasSpare(for byteCount: UInt64) -> Bool {
        do throws(SystemError) {
            let free = try FileSystemInfo.of(descriptor: folder.descriptor.raw).freeBytes
            return free >= Self.spareByteCount && free - Self.spareByteCount >= byteCount
        } catch {
            diagnostics.debug("nothing is fetched for others: \(error)")
            return false
        }
    }

    /// Removes what nobody needs any more, what is over the limit, and what this device has
    /// otherwise by now.
    func collectRelays() async throws {
        let known = relays.with { $0.attachments }
        guard !known.isEmpty else { return }
        let root = root
        let needless = try await reader.read { snapshot in
            try known.filter { attachment in
                try !snapshot.isNamed(attachment)
                    || snapshot.locations(of: attachment).contains { $0.root != root }
            }
        }
        let due = relays.with { $0.due(now: RelayTable.now) }
        for attachment in Set(needless).union(due) { try await removeRelay(attachment) }
        let news = relays.with { $0.takeNews() }
        guard !news.isEmpty else { return }
        try await store.write(durable: .withNext) { transaction in
            for (attachment, used) in news
            where try transaction.row(RelayRecord.self, RelayRecord.key(attachment)) != nil {
                try transaction.put(RelayRecord(attachment: attachment, used: used))
            }
        }
    }

    /// Ends fetching it for others, and removes what is here of it; nothing happens where it is
    /// this device's own by now.
    func removeRelay(_ attachment: AttachmentID) async throws {
        let root = root
        try await exclusively(attachment) {
            let isRemoved = try await store.write { transaction in
                let key = RelayRecord.key(attachment)
                guard try transaction.row(RelayRecord.self, key) != nil else { return false }
                try transaction.remove(RelayRecord.self, key)
                try transaction.unwant(attachment, inRoot: root)
                try transaction.removeLocation(
                    root: root, path: BytePath(attachment.blobName))
                return true
            }
            relays.with { $0.remove(attachment) }
            guard isRemoved else { return }
            unlink(BytePath(attachment.blobName))
            discardStaged(attachment)
            uses.forget(attachment)
        }
    }

    /// What was here for others is this device's own from now on.
    func keepRelay(_ attachment: AttachmentID) async throws {
        guard relays.contains(attachment) else { return }
        try await store.write { transaction in
            let key = RelayRecord.key(attachment)
            guard try transaction.row(RelayRecord.self, key) != nil else { return }
            try transaction.remove(RelayRecord.self, key)
            try transaction.acknowledge(attachment)
        }
        relays.with { $0.remove(attachment) }
    }
}

extension Snapshot {
    /// Whether the bytes are on this device, and not for others alone.
    func isHeld(_ attachment: AttachmentID) throws -> Bool {
        let locations = try locations(of: attachment)
        guard !locations.isEmpty else { return false }
        guard try row(RelayRecord.self, RelayRecord.key(attachment)) != nil else { return true }
        let blob = BytePath(attachment.blobName)
        return locations.contains { !$0.isOwned || $0.path != blob }
    }
}
