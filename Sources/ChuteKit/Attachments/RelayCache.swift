import ChuteSystem

/// Fetches for connected devices what this one does not take itself.
///
/// ## Concurrency
/// A plain actor: what blocks is done by the store, the blob folder and the fetcher.
actor RelayCache {
    nonisolated let table: RelayTable
    private let store: StoreWriter
    private let reader: StoreReader
    private let blobs: BlobFolder
    private let fetcher: Fetcher

    init(store: StoreWriter, reader: StoreReader, blobs: BlobFolder, fetcher: Fetcher) {
        table = blobs.relays
        self.store = store
        self.reader = reader
        self.blobs = blobs
        self.fetcher = fetcher
    }

    /// Gets an attachment for a connected device, which hears once there is something of it;
    /// whether it is on its way or here.
    ///
    /// Only what a document names that the device may see, of which another connected device is
    /// known to have the bytes, and that fits. Throws where the store fails.
    func get(
        _ attachment: AttachmentID, for asker: DeviceID, in scope: PeerView.Scope
    ) async throws -> Bool {
        guard table.with({ $0.takes(attachment) }) else { return false }
        let (isServed, isHere, holders) = try await reader.read { snapshot in
            (
                try snapshot.isServed(attachment, in: scope),
                try !snapshot.locations(of: attachment).isEmpty,
                try snapshot.knownHolders(of: attachment)
            )
        }
        guard isServed else { return false }
        if table.contains(attachment) {
            if isHere || !table.with({ $0.isHere(attachment) }) {
                table.with { $0.touch(attachment, now: RelayTable.now) }
                return true
            }
            // Its file was found to be gone or damaged.
            try await blobs.removeRelay(attachment)
        }
        let sources = await fetcher.connectedPeers.subtracting([asker]).intersection(holders)
        guard !isHere, !sources.isEmpty, await blobs.hasSpare(for: attachment.byteCount) else {
            return false
        }
        // What this device fetches for itself is passed on as it comes.
        if await fetcher.isFetching(attachment) { return true }
        guard let evicted = table.with({ $0.admit(attachment, now: RelayTable.now) }) else {
            return table.contains(attachment)  // another one asked meanwhile
        }
        do {
            for other in evicted { try await blobs.removeRelay(other) }
            await fetcher.prioritize(attachment, .low)
            let root = blobs.root
            try await store.write(durable: .withNext) { transaction in
                try transaction.put(
                    RelayRecord(attachment: attachment, used: RelayTable.now))
                try transaction.want(
                    attachment, root: root, path: BlobFolder.stagedPath(of: attachment),
                    from: sources.min(), part: .rest)
            }
        } catch {
            table.with { $0.remove(attachment) }
            throw error
        }
        return true
    }

    /// Sets the limit, 0 for none at all; what is over it goes before this returns.
    func limit(byteCount: UInt64) async throws {
        table.with { $0.limit(byteCount: byteCount) }
        try await blobs.collectRelays()
    }
}
