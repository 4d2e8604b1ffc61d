import ChuteSystem
import Synchronization

/// Gets the bytes of wants into their staged files: from own disk where they lie, else from
/// every connected peer that has them.
///
/// ## Concurrency
/// An actor on a queue of its own, which hashes and writes. Sessions hand pieces over with
/// calls that only enqueue; at most `FetchPlanner.Limits` of them are in flight.
actor Fetcher {
    private let executor = QueueExecutor(label: "chute.fetcher")
    /// Where large files are written, past the page cache.
    let writing = QueueExecutor(label: "chute.write")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    let store: StoreWriter
    let reader: StoreReader
    let allRoots: Roots
    let roots: OpenRoots
    let diagnostics: Diagnostics
    /// What is fetched for other devices alone.
    nonisolated let relays: RelayTable
    /// Which connected devices were asked to fetch what nobody has, since all of them were.
    var relayAsked: [AttachmentID: Set<DeviceID>] = [:]
    /// Who of them has not said no.
    var relayOpen: [AttachmentID: DeviceID] = [:]
    nonisolated let progress = TransferProgress()
    nonisolated let buffers = PieceBufferPool()
    /// What ended, for whoever made the wants.
    nonisolated let outcomes = Mailbox<FetchOutcome>()
    /// The root of the blob folder: what becomes of wants below it is said by `notes` instead.
    nonisolated let blobsRoot: Int64
    nonisolated let notes = Mailbox<FetchNote>()
    /// Whether a `look` waits there.
    nonisolated let isLookPending = Atomic(false)
    /// Whether anybody waits for progress.
    nonisolated let isWatched = Atomic(false)
    /// Whether `run` runs: without it nothing is asked of anybody.
    private(set) var isRunning = false
    /// Of wants that are not of normal priority.
    private var priorities: [AttachmentID: FetchPriority] = [:]

    var planner = FetchPlanner()
    var transfers: [AttachmentID: FetchTransfer] = [:]
    var sessions: [DeviceID: PeerSession] = [:]
    var partials = PartialPieces()
    /// What ended in the call that is running; `nil` outside of one.
    private var ended: [FetchOutcome]?
    private var nextNumber: UInt32 = 0
    /// What each peer had brought at the last look at those that are slow, and whether one is due.
    var brought: [DeviceID: Int] = [:]
    private var isLookDue = false
    private var slowAlarm: Alarm?
    private static let slowPause = Duration.seconds(5)
    private var lastWant: Int64 = 0
    private var paused: [Int64: Want] = [:]
    let hasher = PieceTree.PieceHasher()
    private static let pageLimit = 1024
    /// So many small files are asked for in one message.
    private static let askCount = 64
    /// Only what an earlier run asked for can have staged bytes.
    private var isFirstRound = true

    init(
        store: StoreWriter, reader: StoreReader, roots: Roots, blobsRoot: Int64,
        relays: RelayTable = RelayTable(), diagnostics: Diagnostics
    ) {
        self.relays = relays
        self.store = store
        self.blobsRoot = blobsRoot
        self.reader = reader
        allRoots = roots
        self.roots = OpenRoots(roots)
        self.diagnostics = diagnostics
    }

    /// Takes up wants as they are made, until cancelled.
    func run() async throws {
        isRunning = true
        askToLook()
        defer {
            isRunning = false
            askToLook()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in self.store.updates(of: .wants) { try await self.takeUpWants() }
            }
            group.addTask {
                for await _ in self.store.updates(of: .withdrawals) {
                    try await self.forgetWithdrawn()
                }
            }
            group.addTask { try await self.retryPaused() }
            group.addTask { try await self.seekRelaysAgain() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func retryPaused() async throws {
        while true {
            try await Task.pause(for: .seconds(30), tolerance: .seconds(10))
            let ids = Array(paused.keys)
            let gone = try await reader.read { try $0.missingWants(among: ids) }
            defer { roots.close() }
            for id in ids.sorted() {
                guard let want = paused.removeValue(forKey: id), !gone.contains(id) else {
                    continue
                }
                do {
                    carryOut(
                        try await start(
                            want, isLocal: false, mayBeStaged: true,
                            hearers: try await hearers(of: want.attachment)))
                } catch {
                    paused[id] = want
                    throw error
                }
            }
        }
    }

    private func takeUpWants() async throws {
        defer { roots.close() }
        while true {
            let (after, restricted) = (lastWant, planner.restricted)
            let (wants, local, hearers) = try await reader.read { snapshot in
                let wants = try snapshot.wants(after: after, limit: Self.pageLimit)
                let local = try wants.filter { want in
                    try !snapshot.locations(of: want.attachment).isEmpty
                }
                let attachments = Set(wants.map(\.attachment))
                let hearers = try restricted.map {
                    ($0, try snapshot.named(attachments, by: $0))
                }
                return (wants, Set(local.map(\.id)), hearers)
            }
            if wants.isEmpty { break }
            for part in wants.chunks(of: Self.askCount) {
                var assignments: [FetchPlanner.Assignment] = []
                defer { carryOut(assignments) }
                for want in part {
                    let hearing = hearers.filter { $0.1.contains(want.attachment) }.map(\.0)
                    assignments += try await start(
                        want, isLocal: local.contains(want.id), hearers: Set(hearing))
                    // Not before: what an error or a cancel ends is taken up by the next run.
                    lastWant = want.id
                }
            }
        }
        isFirstRound = false
        askToLook()
    }

    private func forgetWithdrawn() async throws {
        let known = transfers.values.flatMap { $0.wants.map(\.id) } + paused.keys
        guard !known.isEmpty else { return }
        let gone = try await reader.read { snapshot in try snapshot.missingWants(among: known) }
        for id in gone { paused[id] = nil }
        for (attachment, transfer) in transfers {
            guard transfers[attachment] === transfer else { continue }
            let first = transfer.wants.first
            transfer.wants.removeAll { gone.contains($0.id) }
            if let same = transfer.wants.firstIndex(where: { $0.hasFile(of: first) }) {
                // Somebody else waits for the very file that is written.
                transfer.wants.swapAt(0, same)
                continue
            }
            // Its file is that of the want that is gone: the others begin with their own.
            let hearers = drop(attachment)
            begin(transfer.wants[...], layer: transfer.layer, hearers: hearers)
        }
    }

    /// Begins anew with wants of one attachment that nothing is under way for, from its first
    /// piece.
    func begin(_ wants: ArraySlice<Want>, layer: [UInt8]?, hearers: Set<DeviceID>) {
        guard let first = wants.first else { return }
        let transfer = FetchTransfer(want: first, layer: layer)
        transfer.wants = Array(wants)
        transfers[first.attachment] = transfer
        carryOut(
            planner.add(
                first.attachment, pieces: 0..<transfer.wantedCount,
                needsLayer: transfer.pieceCount > 1 && layer == nil, source: first.source,
                priority: priorities[first.attachment] ?? .normal, hearers: hearers))
    }

    /// Forgets a transfer, and takes back what was asked for. The restricted peers that could
    /// hear of it.
    @discardableResult
    func drop(_ attachment: AttachmentID) -> Set<DeviceID> {
        transfers.removeValue(forKey: attachment)?.direct?.end()
        partials.forget(attachment)
        relayAsked[attachment] = nil
        relayOpen[attachment] = nil
        progress.ended(attachment)
        // First: a peer keeps a bounded number of requests.
        for peer in planner.askedPeers(for: attachment) { sessions[peer]?.cancel(attachment) }
        let hearers = planner.hearers(of: attachment)
        carryOut(planner.remove(attachment))
        return hearers
    }

    /// Begins with a want; what is to be asked for by that. Where it throws, also for a cancel, the
    /// want is to be started again.
    func start(
        _ want: Want, isLocal: Bool, mayBeStaged: Bool = false, hearers: Set<DeviceID>
    ) async throws -> [FetchPlanner.Assignment] {
        let attachment = want.attachment
        if let transfer = transfers[attachment] {
            if !transfer.wants.contains(where: { $0.id == want.id }) {
                transfer.wants.append(want)
                // What is fetched for others is wanted here by now.
                if relays.contains(attachment) { prioritize(attachment, .normal) }
            }
            return hearers.flatMap { planner.allow($0, toHearOf: [attachment]) }
        }
        if attachment.byteCount == 0 {
            finishEmpty(want)
            return []
        }
        if isLocal, try await copyFromHere(want) { return [] }
        let pieces = PieceTree.pieceCount(length: attachment.byteCount)
        let layer =
            pieces == 1 ? [] : try await reader.read { try $0.layer(of: attachment) }
        guard transfers[attachment] == nil else {
            return try await start(want, isLocal: false, hearers: hearers)
        }
        let transfer = FetchTransfer(want: want, layer: layer)
        transfers[attachment] = transfer
        let mayBeStaged = mayBeStaged || isFirstRound || want.part == .rest
        let staged = mayBeStaged ? transfer.stagedPieces(in: roots) : []
        let assignments = planner.add(
            attachment,
            pieces: (0..<transfer.wantedCount).lazy.filter { !staged.contains($0) },
            needsLayer: pieces > 1 && layer == nil, source: want.source,
            priority: priorities[attachment] ?? .normal, hearers: hearers)
        guard !staged.isEmpty else { return assignments }
        carryOut(assignments)
        try await checkStaged(staged.sorted(), of: transfer)
        return []
    }

    /// Ends a transfer whose last piece is there.
    func finishIfComplete(_ transfer: FetchTransfer) {
        guard transfer.isComplete, transfers[transfer.attachment] === transfer else { return }
        transfer.startWriteback()
        let wants = transfer.wants
        let layer = transfer.layer
        let hearers = drop(transfer.attachment)
        if transfer.isSample {
            end(FetchOutcome(want: wants[0], result: .sampled, layer: []))
            // The others begin with their own files.
            return begin(wants.dropFirst(), layer: layer, hearers: hearers)
        }
        end(FetchOutcome(want: wants[0], result: .completed, layer: layer ?? []))
        guard wants.count > 1 else { return }
        // The others get a copy of the file that is complete now.
        for want in wants.dropFirst() {
            copy(from: transfer, layer: layer, to: want)
        }
    }

    /// Reports an outcome: with the others of what is being taken in, or by itself.
    func end(_ outcome: FetchOutcome) {
        if outcome.want.root == blobsRoot { return notes.post(.ended(outcome)) }
        if ended == nil { outcomes.post(outcome) } else { ended?.append(outcome) }
    }

    /// Does what a session reports, and lets it wait.
    nonisolated func perform(_ body: @escaping @Sendable (isolated Fetcher) -> Void) async {
        await withCheckedContinuation { continuation in
            enqueue { fetcher in
                body(fetcher)
                continuation.resume()
            }
        }
    }

    /// Does what a session reports, without letting it wait.
    nonisolated func enqueue(_ body: @escaping @Sendable (isolated Fetcher) -> Void) {
        executor.async {
            self.assumeIsolated { fetcher in
                fetcher.ended = []
                body(fetcher)
                fetcher.roots.close()
                fetcher.outcomes.post(contentsOf: fetcher.ended ?? [])
                fetcher.ended = nil
            }
        }
    }

    /// Lets a want wait until its file can be written.
    func pause(_ want: Want, _ error: SystemError) {
        paused[want.id] = want
        end(
            FetchOutcome(
                want: want,
                result: .waiting(
                    error.isNoSpace ? .noSpace : error.isUnwritable ? .unwritable : .unavailable,
                    reason: error.description),
                layer: []))
    }

    /// Takes a want up again by and by, in this run or the next.
    func retryLater(_ want: Want) { paused[want.id] = want }

    func newNumber() -> UInt32 {
        nextNumber &+= 1
        return nextNumber
    }

    /// Asks the peers for what was planned.
    func carryOut(_ assignments: [FetchPlanner.Assignment]) {
        var byPeer: [DeviceID: [Assembly]] = [:]
        for assignment in assignments {
            let number = newNumber()
            let count = FetchPlanner.byteCount(of: assignment.piece, assignment.attachment)
            let begun = assignment.piece.flatMap {
                partials.take($0, of: assignment.attachment)
            }
            let whole = begun ?? PieceBuffer(byteCount: count, from: buffers)
            byPeer[assignment.peer, default: []].append(
                Assembly(
                    request: PieceRequest(
                        number: number, attachment: assignment.attachment,
                        piece: assignment.piece, offset: whole.filled),
                    buffer: whole))
        }
        for (peer, assemblies) in byPeer { sessions[peer]?.request(assemblies) }
        watchSlowPeers()
    }

    /// While something is asked for, looks now and then who brings nothing or little.
    private func watchSlowPeers() {
        guard !isLookDue, planner.inFlightCount > 0 else { return }
        isLookDue = true
        let alarm =
            slowAlarm
            ?? Alarm { [weak self] in
                self?.enqueue { fetcher in
                    fetcher.isLookDue = false
                    fetcher.lookAtSlowPeers()
                    fetcher.watchSlowPeers()
                }
            }
        slowAlarm = alarm
        alarm.set(after: Self.slowPause, tolerance: .seconds(1))
    }

    /// The staged file of a transfer under way, for peers that want the same.
    func partial(of attachment: AttachmentID) -> StagedBlob? {
        transfers[attachment]?.staged()
    }

    /// Lets what is still to be asked for of an attachment go before others; `nil` once nobody
    /// waits for it.
    func prioritize(_ attachment: AttachmentID, _ priority: FetchPriority?) {
        priorities[attachment] = priority == .normal ? nil : priority
        if let priority { planner.setPriority(priority, of: attachment) }
    }

    /// The attachments that nobody who is connected has.
    func stalled() -> [AttachmentID] { transfers.keys.filter { planner.isStalled($0) } }
}

extension Array {
    /// The elements in their order, `count` at a time.
    fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}
