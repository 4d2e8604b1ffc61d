import ChuteKit
import ChuteSystem
import Glibc

/// Turns what is dropped into one inbox into documents with attachments.
///
/// ## Concurrency
/// An actor on a queue of its own, which reads and hashes. One loop takes sightings and moments
/// that have come, one after the other; nothing else calls in but `status`.
actor Ingestor {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    let chute: Chute
    let collection: String
    let root: Int64
    let watcher: InboxWatcher
    let log: Log
    private let probe: LeaseProbe
    let reader: FileReader
    let holder = HeldFiles()
    let retention: Configuration.Retention
    /// Takes files away that others have.
    let taker: InboxTaker
    var tracker = SettleTracker()
    var history = NameHistory()
    private var settled: [Settled] = []
    /// Files that were read and whose rename shows only after a quiet second.
    var undecided: [(file: IngestedFile, moment: Duration)] = []
    var scan = ScanKnowledge()
    private(set) var state: InboxState?
    private let alarm: Alarm
    private let start = ContinuousClock.now
    /// While users' bytes wait for their sync.
    private var syncAlarm: Alarm?
    private let syncQueue = QueueExecutor(label: "chute.sync")

    private struct Settled {
        let path: BytePath
        let fingerprint: FileFingerprint
        let note: IngestNote?
    }

    /// So many bytes are read before what was read is committed; a group of one is the same code.
    private static let groupByteCount: UInt64 = 64 << 20
    private static let groupCount = 1024

    init(
        chute: Chute, folder: FolderSettings, retention: Configuration.Retention, root: Int64,
        watcher: InboxWatcher, taker: InboxTaker, log: Log
    ) {
        executor = QueueExecutor(label: "chute.ingest")
        self.chute = chute
        collection = folder.collection
        self.retention = retention
        self.root = root
        self.watcher = watcher
        self.taker = taker
        self.log = log
        reader = FileReader(
            accept: folder.accept,
            maxSize: folder.maxSize, holder: holder)
        probe = LeaseProbe { file, size in
            do throws(SystemError) {
                return StructureVerdict(try FileStructure.probe(file, size: size))
            } catch {
                return .unknown  // it cannot be read: reading it says why
            }
        }
        alarm = Alarm { [watcher] in watcher.wake() }
    }

    /// Ingests until cancelled. Throws where the store fails.
    func run() async throws {
        if let failure = reader.typeFailure {
            log.warning("types are told by own looks alone, libmagic cannot be used: \(failure)")
        }
        try await forgetOutdatedSkips()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.watcher.run() }
            group.addTask { try await self.takeSightings() }
            group.addTask { try await self.releaseDelivered() }
            group.addTask { try await self.taker.run() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    var now: Duration { ContinuousClock.now - start }

    private func takeSightings() async throws {
        while let sightings = await watcher.next() {
            try await take(sightings)
            try await comeBack()
            while !settled.isEmpty { try await ingestGroup() }
            try await noteAbsent()
            schedule()
        }
    }

    private func schedule() {
        let moments = [tracker.nextDeadline, history.nextDeadline, undecided.map(\.moment).min()]
        guard let next = moments.compactMap({ $0 }).min() else {
            return alarm.cancel()
        }
        alarm.set(after: next - now, tolerance: .milliseconds(5))
    }

    private func take(_ sightings: [InboxSighting]) async throws {
        let known = try await unchanged(among: sightings)
        for sighting in sightings {
            if let event = sighting.nameEvent { history.handle(event, now: now) }
            switch sighting {
            case .file(let path, let kind):
                scan.saw(path)
                if known.contains(path), kind.isLook { continue }
                if let event = sighting.settleEvent { try await handle(path, event) }
            case .skipped(let path, let reason, let kind):
                try await handleSkipped(path, reason, kind)
            case .folderMovedFrom(let folder): try await folderLeft(folder)
            case .scanBegan(_, let afterAbsence):
                scan.begin(afterAbsence: afterAbsence)
                if afterAbsence {
                    try await reconcileHeld()
                    try await seeTaken()
                }
            case .scanEnded(_, let coverage): try await scanEnded(coverage)
            case .state(let new): state = new
            }
        }
    }

    /// Of the files that were merely looked at, those that are as they are recorded, and whose
    /// bytes are known to be somewhere: a file of which a wrong or no byte was found when a peer
    /// asked is read again.
    private func unchanged(among sightings: [InboxSighting]) async throws -> Set<BytePath> {
        var looks: [(BytePath, FileFingerprint)] = []
        for case .file(let path, .scanned(let status)) in sightings {
            looks.append((path, FileFingerprint(status)))
        }
        guard !looks.isEmpty else { return [] }
        let (root, asked) = (root, looks)
        return try await chute.store.read { snapshot in
            var known: Set<BytePath> = []
            for (path, print) in asked {
                let key = folderKey(root, path)
                if let row = try snapshot.row(InboxRecord.self, key), row.fingerprint == print,
                    !row.wasSeenAbsent, try !snapshot.locations(of: row.attachment).isEmpty
                {
                    known.insert(path)
                } else if let skip = try snapshot.row(SkipRecord.self, key),
                    skip.fingerprint?.hasSameContentTimes(as: print) ?? false
                {
                    known.insert(path)
                }
            }
            return known
        }
    }

    private func handle(_ path: BytePath, _ event: SettleTracker.Event) async throws {
        if case .vanished = event {
            settled.removeAll { $0.path == path }
            try await forgetSkip(path)
        }
        try await feed(event)
    }

    /// Hands an event to the tracker and does what it asks for, until it asks for nothing more.
    func feed(_ event: SettleTracker.Event) async throws {
        var effects = tracker.handle(event, now: now)
        var next = 0
        while next < effects.count {
            let effect = effects[next]
            next += 1
            switch effect {
            case .dropped: continue
            case .settled(let path, let print, let note):
                settled.append(Settled(path: path, fingerprint: print, note: note))
            case .probe(let path):
                guard let root = watcher.root else {
                    effects += tracker.handle(.vanished(path), now: now)
                    continue
                }
                switch probe.look(at: path, in: root) {
                case .file(let answer, _):
                    effects += tracker.handle(.probed(path, answer), now: now)
                case .skipped(let reason):
                    try await skip(path, reason)
                    effects += tracker.handle(.vanished(path), now: now)
                case .missing:
                    history.handle(.missing(path), now: now)
                    effects += tracker.handle(.vanished(path), now: now)
                }
            }
        }
    }

    private func comeBack() async throws {
        try await feed(.timePassed)
        let due = undecided.filter { $0.moment <= now }.map(\.file)
        guard !due.isEmpty else { return }
        undecided.removeAll { $0.moment <= now }
        try await record(due)
    }

    /// Reads what is settled, up to a group, and commits it.
    private func ingestGroup() async throws {
        var files: [IngestedFile] = []
        var size: UInt64 = 0
        var taken = 0
        defer { holder.release() }
        let own = try await ownCopies(
            among: settled.prefix(Self.groupCount).map { ($0.path, $0.fingerprint) })
        while taken < settled.count, taken < Self.groupCount, size < Self.groupByteCount {
            let next = settled[taken]
            taken += 1
            guard let root = watcher.root else { break }
            if own.contains(next.path) {
                try await skip(
                    next.path, .alreadyShared, "it came from a peer", next.fingerprint)
                continue
            }
            switch reader.read(
                next.path, as: next.fingerprint, note: next.note,
                readAt: now, in: root)
            {
            case .read(let file):
                files.append(file)
                size += file.attachment.byteCount
            case .skipped(let reason, let detail, let print):
                try await skip(next.path, reason, detail, print)
            case .changed: try await feed(.changedWhileRead(next.path))
            case .vanished: history.handle(.missing(next.path), now: now)
            }
        }
        settled.removeFirst(min(taken, settled.count))
        try await record(files)
    }

    /// Syncs what users wrote, after it was announced: a power cut takes back what they dropped
    /// in the last moment, and with it nothing that a peer has.
    func syncLater(_ root: InboxRoot) {
        guard syncAlarm == nil else { return }
        let alarm = Alarm { [executor, syncQueue] in
            executor.async {
                self.assumeIsolated { $0.syncAlarm = nil }
                syncQueue.async {
                    do throws(SystemError) { try root.folder.descriptor.syncFileSystem() } catch {
                        self.log.warning("the inbox could not be synced: \(error)")
                    }
                }
            }
        }
        syncAlarm = alarm
        alarm.set(after: .seconds(1))
    }
}
