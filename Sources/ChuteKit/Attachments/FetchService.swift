import ChuteSystem
import Synchronization

/// Fetches attachments for those who ask: one transfer for each, however many wait for it.
///
/// ## Concurrency
/// A plain actor: what blocks is done by the fetcher, the blob folder and the store. After each
/// `await` an entry may be over; `isActive` says so.
actor FetchService {
    /// An attachment that somebody waits for.
    final class Entry {
        let attachment: AttachmentID
        var subscriptions: [FetchSubscription]
        var priority: FetchPriority
        /// Whether own disk is looked at, or was.
        var hasBegun = false
        /// Whether it is asked for by a row of wants.
        var isWanted = false

        init(_ first: FetchSubscription) {
            attachment = first.token.id
            subscriptions = [first]
            priority = first.priority
        }
    }

    let store: StoreWriter
    let reader: StoreReader
    let blobs: BlobFolder
    let blobReader: BlobReader
    let fetcher: Fetcher
    let diagnostics: Diagnostics
    var entries: [AttachmentID: Entry] = [:]
    private var totals = FetchTotals()
    private var isClosed = false
    /// What `tend` runs in, from the first fetch on.
    private nonisolated let tending = Mutex<Task<Void, Never>?>(nil)
    private nonisolated let latest = Mutex(FetchProgress())
    private var watchers: [UInt64: AsyncStream<FetchProgress>.Continuation] = [:]
    private var nextWatcher: UInt64 = 0

    init(
        store: StoreWriter, reader: StoreReader, blobs: BlobFolder, blobReader: BlobReader,
        fetcher: Fetcher, diagnostics: Diagnostics
    ) {
        self.store = store
        self.reader = reader
        self.blobs = blobs
        self.blobReader = blobReader
        self.fetcher = fetcher
        self.diagnostics = diagnostics
    }

    func isActive(_ entry: Entry) -> Bool { entries[entry.attachment] === entry }

    /// Begins a fetch, or shares the one that is under way.
    func join(_ subscription: FetchSubscription) async {
        guard !subscription.isOver else { return }
        guard !isClosed else { return subscription.handle(.failed(ChuteError.closed)) }
        startTending()
        let attachment = subscription.token.id
        if let entry = entries[attachment] {
            entry.subscriptions.append(subscription)
            if subscription.priority > entry.priority {
                entry.priority = subscription.priority
                await fetcher.prioritize(attachment, entry.priority)
            }
            return fetcher.askToLook()  // tells it where it stands
        }
        let entry = Entry(subscription)
        entries[attachment] = entry
        fetcher.isWatched.store(true, ordering: .relaxed)
        totals.began(attachment)
        publishTotals()
        // Not in the task of who came first: its cancelling is nothing to those who share it.
        Task(executorPreference: WorkerPool.shared) { await self.begin(attachment) }
    }

    /// Leaves a fetch to the others; where there are none, it is taken back.
    func leave(_ subscription: FetchSubscription) async {
        let attachment = subscription.token.id
        guard let entry = entries[attachment],
            let index = entry.subscriptions.firstIndex(where: { $0 === subscription })
        else { return }
        entry.subscriptions.remove(at: index)
        if entry.subscriptions.isEmpty { await end(entry, isCompleted: false) { _ in .cancelled } }
    }

    /// Tells all who wait for it how it ended, and takes back what was asked for.
    func end(
        _ entry: Entry, isCompleted: Bool, _ input: (FetchSubscription) -> FetchState.Input
    ) async {
        guard isActive(entry) else { return }
        let attachment = entry.attachment
        entries[attachment] = nil
        if entries.isEmpty { fetcher.isWatched.store(false, ordering: .relaxed) }
        totals.ended(attachment, isCompleted: isCompleted)
        publishTotals()
        for subscription in entry.subscriptions { subscription.handle(input(subscription)) }
        await fetcher.prioritize(attachment, nil)
        if entry.isWanted, !isCompleted { await takeBack(attachment) }
    }

    /// Takes back the want of an attachment, unless somebody waits for it again.
    func takeBack(_ attachment: AttachmentID) async {
        guard entries[attachment] == nil else { return }
        do {
            let root = blobs.root
            try await store.write { try $0.unwant(attachment, inRoot: root) }
        } catch {
            diagnostics.warning("\(attachment) is still asked for: \(error)")
        }
    }

    func advance(_ entry: Entry, to count: UInt64) {
        totals.advanced(entry.attachment, to: count)
        for subscription in entry.subscriptions { subscription.handle(.progress(count)) }
    }

    /// How all fetches stand.
    nonisolated var progress: FetchProgress { latest.withLock { $0 } }

    func publishTotals() {
        let new = totals.progress
        let isChanged = latest.withLock { latest in
            defer { latest = new }
            return latest != new
        }
        guard isChanged else { return }
        for watcher in watchers.values { watcher.yield(new) }
    }

    /// The progress now and after each change; who takes slowly gets the last.
    nonisolated func progressUpdates() -> AsyncStream<FetchProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: FetchProgress.self, bufferingPolicy: .bufferingNewest(1))
        // It is asked for by who cannot wait; the stream is its parent, and ends it.
        let task = Task(executorPreference: WorkerPool.shared) { await self.add(continuation) }
        continuation.onTermination = { [weak self] _ in
            Task(executorPreference: WorkerPool.shared) { await self?.remove(after: task) }
        }
        return stream
    }

    private func add(_ continuation: AsyncStream<FetchProgress>.Continuation) -> UInt64 {
        nextWatcher += 1
        continuation.yield(progress)
        if isClosed { continuation.finish() } else { watchers[nextWatcher] = continuation }
        return nextWatcher
    }

    private func remove(after task: Task<UInt64, Never>) async {
        watchers[await task.value] = nil
    }

    nonisolated func startTending() {
        tending.withLock { task in
            guard task == nil else { return }
            // Fetches begin without `run`; the engine ends it when it is closed or goes.
            task = Task(executorPreference: WorkerPool.shared) { await self.tend() }
        }
    }

    /// Ends what follows the fetches. For an engine that goes.
    nonisolated func stopTending() { tending.withLock { $0 }?.cancel() }

    /// Ends all fetches.
    func close() async {
        isClosed = true
        for entry in entries.values {
            await end(entry, isCompleted: false) { _ in .failed(ChuteError.closed) }
        }
        for watcher in watchers.values { watcher.finish() }
        watchers = [:]
        stopTending()
    }
}
