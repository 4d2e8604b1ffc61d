import ChuteKit
import ChuteSystem
import Glibc

/// Brings what others shared in one collection into one outbox.
///
/// Documents are looked at in the order in which they were learned; what has to be done about
/// each is a row, so that after a crash asking again is the recovery.
///
/// ## Concurrency
/// An actor on a queue of its own, which syncs and renames. One loop takes what came, one batch
/// after the other; a batch is what queued while the one before was on its way to the disk.
actor OutboxWriter {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    enum Event: Sendable {
        /// Documents may be new.
        case look
        /// Documents may not be seen any more.
        case forget
        case fetched([FetchOutcome])
        /// Look again at what waits.
        case tick
        /// See whether the copies are still there.
        case check
    }

    /// An outbox that is there: opened, with its staging folder of this start.
    struct Place {
        let publisher: OutboxPublisher
        let staging: StagingFolder
    }

    let chute: Chute
    let folder: FolderSettings
    let record: FolderRecord
    let rules: DeliveryDecision.Rules
    let layout: OutboxLayout
    let limits: SpaceLimits
    let promises: SpacePromises
    private let locks: FolderLocks
    let log: Log
    nonisolated let events = Mailbox<Event>()
    var place: Place?
    private(set) var isWaiting = false
    /// Why, where it does.
    private(set) var waitReason = SkipReason.notMounted
    /// What was fetched while the outbox was not there.
    var unplaced: [FetchOutcome] = []
    var learned: Int64
    /// Rows whose intents could not be brought to their end: at their staged paths a file of the
    /// user's may lie.
    var unsettled: Set<[UInt8]> = []
    /// What was found in staging and is not ours, said once.
    var unknownStaged: [BytePath] = []
    /// What the outbox refused to name, by staged path, as it was then: hashed once.
    var kept: [BytePath: CopyFingerprint] = [:]
    /// What staged files must be, for the comparison with files of the user.
    var expected: [BytePath: AttachmentID] = [:]
    /// The folder names of peers; what is bound once never changes.
    var peerNames: [DeviceID: [UInt8]] = [:]
    var peerTotals = PeerTotals()
    let detector = MIMEDetector()
    let hasher = AttachmentHasher()

    static let pageCount = 1024

    var root: Int64 { record.root }

    init(
        chute: Chute, folder: FolderSettings, peers: [PeerSettings] = [], record: FolderRecord,
        promises: SpacePromises, locks: FolderLocks, log: Log
    ) throws {
        executor = QueueExecutor(label: "chute.outbox")
        self.chute = chute
        self.folder = folder
        self.record = record
        self.promises = promises
        self.locks = locks
        self.log = log
        learned = record.learned
        rules = DeliveryDecision.Rules(
            accept: folder.accept, maxSize: folder.maxSize,
            peers: Dictionary(
                peers.map {
                    ($0.id, .init(accept: $0.accept, maxSize: $0.maxSize, maxTotal: $0.maxTotal))
                },
                uniquingKeysWith: { one, _ in one }))
        layout = folder.layout
        limits = SpaceLimits(minFree: folder.minFree, maxTotal: folder.maxTotal)
    }

    /// Works until cancelled. Throws where the store fails.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.work() }
            group.addTask {
                for await _ in self.chute.store.updates(of: [.documents, .members]) {
                    self.events.post(.look)
                }
            }
            group.addTask {
                for await _ in self.chute.store.updates(of: .members) { self.events.post(.forget) }
            }
            group.addTask {
                while true {
                    try await Task.pause(for: .seconds(10), tolerance: .seconds(10))
                    self.events.post(.tick)
                }
            }
            group.addTask {
                while true {
                    self.events.post(.check)
                    try await Task.pause(for: .seconds(300), tolerance: .seconds(60))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func work() async throws {
        events.post(.tick)  // opens the folder
        while true {
            let came = await events.next()
            if came.isEmpty { return }
            var looks = false
            var forgets = false
            var ticks = false
            var checks = false
            var fetched: [FetchOutcome] = []
            for event in came {
                switch event {
                case .look: looks = true
                case .forget: forgets = true
                case .tick: ticks = true
                case .check: checks = true
                case .fetched(let outcomes): fetched += outcomes
                }
            }
            // What waits for room is looked at again with each tick, and counted only after something
            // else happened.
            peerTotals.isStale =
                peerTotals.isStale || looks || forgets || checks || !fetched.isEmpty
            do {
                if ticks, let place, try !place.staging.isInPlace(in: place.publisher.root) {
                    wait("its staging folder was removed")
                }
                if ticks, place == nil {
                    try await openPlace()
                    // A rename that a crash cut is carried on before the copy counts as gone.
                    looks = place != nil
                    if looks { try await judgeAnew() }
                }
                if looks { try await lookAtNewDocuments() }
                if forgets { try await endForgotten() }
                if !fetched.isEmpty { try await take(fetched) }
                if ticks { try await retryWaiting() }
                if checks {
                    try await checkCopies()
                    try await reap()
                    try await sweepReplaced()
                }
            } catch let error as SystemError {
                // The drive's fault: this outbox waits, all else goes on.
                unplaced += fetched
                wait("\(error)", error.isUnwritable ? .unwritable : .notMounted)
            }
        }
    }

    /// Opens the outbox if it is there, and recovers what a crash left unfinished.
    private func openPlace() async throws {
        do throws(SystemError) {
            guard
                case .ready(let root) = try FolderRoot.open(
                    at: record.path, expected: record.identity)
            else { return wait("not mounted") }
            guard try locks.take(record.root, root.folder) else {
                return wait("another agent uses it")
            }
            let publisher = try OutboxPublisher(
                root: root,
                modes: .init(file: folder.fileMode, folder: folder.folderMode)
            ) { [weak self] file, item in
                // Called while the publisher works for this actor, on its own queue.
                self?.assumeIsolated { [raw = file.raw] in $0.isExpected(raw, item) } ?? false
            }
            place = Place(publisher: publisher, staging: try StagingFolder.make(in: root))
        } catch {
            locks.release(record.root)
            return wait("\(error)", error.isUnwritable ? .unwritable : .notMounted)
        }
        if let start = place?.staging.start {
            let made = StagingRecord(root: root, start: start)
            try await chute.store.write { try $0.put(made) }
        }
        try await recover()
        isWaiting = false
        if !unplaced.isEmpty { events.post(.fetched(unplaced)) }
        unplaced = []
    }

    private func wait(_ why: String, _ reason: SkipReason = .notMounted) {
        if !isWaiting || reason != waitReason {
            log.warning("the outbox \(record.path) waits: \(why)")
        }
        isWaiting = true
        waitReason = reason
        if place != nil { locks.release(root) }
        place = nil
    }

    /// Gives up the folder when it is not where it was: everything else waits for it.
    func placeInUse() -> Place? {
        guard let place else { return nil }
        if place.publisher.root.isInPlace() { return place }
        wait("not mounted")
        return nil
    }

    private func isExpected(_ descriptor: Int32, _ item: PublishItem) -> Bool {
        guard let attachment = expected[item.staged.name] else { return false }
        do {
            return try hasher.hash(
                descriptor: descriptor, expectedLength: attachment.byteCount
            )?.attachment == attachment
        } catch {
            return false
        }
    }
}
