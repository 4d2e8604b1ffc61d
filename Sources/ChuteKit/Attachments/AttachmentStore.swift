import ChuteSystem
import Synchronization

/// All that an engine does with attachments: taking in, reading, fetching, collecting.
///
/// ## Concurrency
/// Its parts are actors; whether it is closed may be asked from anywhere.
final class AttachmentStore: Sendable {
    let blobs: BlobFolder
    let blobReader: BlobReader
    let fetches: FetchService
    let relays: RelayCache
    let reader: StoreReader
    let writer: StoreWriter
    let progress: TransferProgress
    private let isClosed = Atomic(false)

    init(
        blobs: BlobFolder, store: StoreWriter, reader: StoreReader, roots: Roots,
        fetcher: Fetcher, diagnostics: Diagnostics
    ) {
        self.blobs = blobs
        self.reader = reader
        writer = store
        progress = fetcher.progress
        blobReader = BlobReader(reader: reader, roots: roots, uses: blobs.uses)
        relays = RelayCache(store: store, reader: reader, blobs: blobs, fetcher: fetcher)
        fetches = FetchService(
            store: store, reader: reader, blobs: blobs, blobReader: blobReader,
            fetcher: fetcher, diagnostics: diagnostics)
    }

    deinit { fetches.stopTending() }

    func attachment(_ id: AttachmentID, _ metadata: [String: String]) -> Attachment {
        Attachment(
            token: AttachmentToken(id: id, metadata: metadata), blobs: blobs, reader: blobReader)
    }

    /// As `RelayCache.get`.
    func relay(
        _ attachment: AttachmentID, for asker: DeviceID, in scope: PeerView.Scope
    ) async throws -> Bool {
        fetches.startTending()
        return try await relays.get(attachment, for: asker, in: scope)
    }

    /// Throws `closed` once the engine was closed.
    func checkOpen() throws(ChuteError) {
        guard !isClosed.load(ordering: .acquiring) else { throw .closed }
    }

    /// Ends all fetches, each with `failed`; new ones are refused. What was fetched of them stays
    /// for later ones.
    func close() async {
        isClosed.store(true, ordering: .releasing)
        await fetches.close()
    }
}
