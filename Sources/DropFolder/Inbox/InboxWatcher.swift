package import ChuteSystem
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Sees what happens in one inbox.
///
/// Events are hints, the scan is the truth. A folder is watched first, then scanned. A scan of
/// everything follows every loss of events, every return of the inbox, every `rescan()`, and a
/// jittered pause; where there are no events, scans alone do it.
///
/// ## Concurrency
/// The actor, on a queue of its own since scans block, owns the watches and the scan. `next()`,
/// `rescan()` and `root` may be called from anywhere; they reach it through two locks and a
/// signal. What nobody takes fills a bounded queue: scans wait for room, events that find none
/// are lost, and a scan follows.
package actor InboxWatcher {
    /// Pauses and sizes.
    package struct Settings: Sendable {
        /// Between two scans that nothing asked for; jittered by a fifth.
        package var rescanPause: Duration = .seconds(300)
        /// Between two scans where there are no events.
        package var pollPause: Duration = .seconds(10)
        /// Between two looks at whether the inbox is still, or again, there.
        package var checkPause: Duration = .seconds(10)
        /// Sightings that wait to be taken.
        package var capacity = 32_768
        /// Events that wait to be looked at.
        package var eventCapacity = 32_768
        /// Names looked at before events get their turn again.
        package var scanBatch = 256
        /// What the inbox is taken for; `nil` asks the file system.
        package var fileSystem: FileSystemReach?

        package init() {}
    }

    /// Whether an open folder is the inbox that is meant: its mark is there.
    package typealias RootCheck = @Sendable (borrowing Folder) -> Bool

    private struct FullScan {
        var scanner: InboxScanner
        let generation: UInt64
        let began: ContinuousClock.Instant
        var coverage = InboxSighting.Coverage(isComplete: true)
        var round: WatchRound
    }

    /// What became of the watches that a scan wanted.
    private struct WatchRound {
        var entered: Set<InotifyEvent.Watch> = []
        /// Why there is a folder without one.
        var failure: String?
    }

    private let executor = QueueExecutor(label: "chute.inbox")
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private let path: BytePath
    private let filter: InboxFilter
    private let settings: Settings
    private let isOurs: RootCheck
    private let letGo: @Sendable () -> Void
    private let clock = ContinuousClock()
    private let signal: WakeSignal
    private let output: SightingQueue
    private let currentRoot = Mutex<InboxRoot?>(nil)
    private let isScanAsked = Mutex(false)

    private var inotify: Inotify?
    private var watches = WatchTable()
    private var state: InboxState?
    private var scan: FullScan?
    private var folderScans: [InboxScanner] = []
    private var wantsScan = false
    private var isAfterAbsence = true
    private var generation: UInt64 = 0
    private var nextScan: ContinuousClock.Instant
    private var nextCheck: ContinuousClock.Instant

    /// Looks after the folder at `path`, once `run()` is called. `letGo` is called while that is
    /// not the inbox: what `isOurs` took with it is free for others.
    package init(
        path: BytePath, filter: InboxFilter = InboxFilter(), settings: Settings = Settings(),
        isOurs: @escaping RootCheck = { _ in true },
        letGo: @escaping @Sendable () -> Void = {}
    ) {
        self.path = path
        self.filter = filter
        self.settings = settings
        self.isOurs = isOurs
        self.letGo = letGo
        let signal = WakeSignal()
        self.signal = signal
        output = SightingQueue(capacity: settings.capacity) { signal.raise() }
        nextScan = clock.now
        nextCheck = clock.now
    }

    /// The open inbox; `nil` while it is not there.
    package nonisolated var root: InboxRoot? { currentRoot.withLock { $0 } }

    /// What was seen since the last call, as soon as there is something; `nil` when `run()` has
    /// ended or the task is cancelled. For one caller at a time.
    package nonisolated func next() async -> [InboxSighting]? { await output.next() }

    /// Lets `next()` return, with nothing if nothing was seen: a moment has come.
    package nonisolated func wake() { output.wake() }

    /// Asks for a scan of everything.
    package nonisolated func rescan() {
        isScanAsked.withLock { $0 = true }
        signal.raise()
    }

    /// Watches until the task is cancelled.
    package func run() async {
        let signal = signal
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        timer.setEventHandler { @Sendable in signal.raise() }
        timer.activate()
        defer {
            timer.cancel()
            disarm()
            output.finish()
        }
        while !Task.isCancelled {
            let now = clock.now
            checkRoot(now)
            handleEvents()
            if advanceScans(now) {
                await Task.yield()
                continue
            }
            let pause = min(nextCheck, root == nil ? nextCheck : nextScan) - clock.now
            timer.schedule(deadline: .now() + max(pause, .zero).seconds)
            await signal.wait()
        }
    }

    // MARK: The root

    private func checkRoot(_ now: ContinuousClock.Instant) {
        guard now >= nextCheck else { return }
        nextCheck = now + settings.checkPause
        if let root {
            if root.isStill(at: path), isOurs(root.folder) { return }
            disarm()
        }
        do throws(SystemError) {
            let found = try InboxRoot(at: path)
            guard isOurs(found.folder) else {
                letGo()
                return enter(.waiting(.notMounted))
            }
            currentRoot.withLock { $0 = found }
            isAfterAbsence = true
            wantsScan = true
        } catch {
            letGo()
            enter(.waiting(error.code == EACCES ? .unreadable : .notMounted))
        }
    }

    /// Lets go of everything that belongs to the present root.
    private func disarm() {
        if let scan {
            let incomplete = InboxSighting.Coverage(isComplete: false)
            output.appendAlways(.scanEnded(generation: scan.generation, incomplete))
        }
        scan = nil
        folderScans = []
        watches = WatchTable()
        inotify?.stop()
        inotify = nil
        currentRoot.withLock { $0 = nil }
    }

    private func enter(_ new: InboxState) {
        guard state != new else { return }
        state = new
        output.appendAlways(.state(new))
    }

    // MARK: Events

    private func handleEvents() {
        guard let events = inotify?.take() else { return }
        for event in events { handle(event) }
    }

    private func handle(_ event: InotifyEvent) {
        if event.mask.contains(.overflow) { return loseTrack() }
        guard let folder = watches[event.watch] else { return }
        if event.mask.contains(.ignored) { return watches.remove(event.watch) }
        if event.name.isEmpty {
            // The folder itself went. Of a folder below the root its parent tells the rest.
            let isLoss: InotifyEvent.Mask = [.selfDeleted, .selfMoved, .unmounted]
            if folder.isEmpty, !event.mask.isDisjoint(with: isLoss) { nextCheck = clock.now }
            return
        }
        let path = folder.appending(event.name)
        if event.mask.contains(.isFolder) {
            handleFolder(path, event)
        } else if let kind = InboxSighting.Kind(event) {
            handleFile(path, kind)
        }
    }

    private func handleFile(_ path: BytePath, _ kind: InboxSighting.Kind) {
        switch filter.verdict(path, isFolder: false) {
        case .share: tell(.file(path, kind))
        case .invisible: break
        case .skip(let reason):
            switch kind {
            case .modified, .attributes, .closedWrite: break
            default: tell(.skipped(path, reason, kind))
            }
        }
    }

    private func handleFolder(_ path: BytePath, _ event: InotifyEvent) {
        let verdict = filter.verdict(path, isFolder: true)
        if verdict == .invisible { return }
        if case .skip(let reason) = verdict, let kind = InboxSighting.Kind(event) {
            if kind != .attributes { tell(.skipped(path, reason, kind)) }
            return
        }
        if event.mask.contains(.movedFrom) {
            for watch in watches.removeTree(path) { inotify?.remove(watch) }
            tell(.folderMovedFrom(path))
        } else if !event.mask.isDisjoint(with: [.created, .movedTo]) {
            scanFolder(path)
        } else if event.mask.contains(.attributes), !watches.isWatched(path) {
            scanFolder(path)  // it may have become readable
        }
    }

    private func scanFolder(_ path: BytePath) {
        guard let root else { return }
        if folderScans.count < 1024 {
            folderScans.append(InboxScanner(root, from: path, filter: filter))
        } else {
            loseTrack()
        }
    }

    /// Something was missed: only a scan that begins later knows all.
    private func loseTrack() {
        wantsScan = true
        scan?.coverage.isComplete = false
    }

    private func tell(_ sighting: InboxSighting) {
        if !output.append(sighting) { loseTrack() }
    }

    // MARK: Scans

    private func kind(of root: InboxRoot) -> FileSystemReach { settings.fileSystem ?? root.kind }

    /// Does a batch of what is to be scanned; `false` when there is nothing to do or no room.
    private func advanceScans(_ now: ContinuousClock.Instant) -> Bool {
        guard let root else { return false }
        if isScanAsked.withLock({ asked in
            defer { asked = false }
            return asked
        }) {
            loseTrack()
        }
        if now >= nextScan {
            wantsScan = true
            nextScan = now + settings.rescanPause
        }
        guard !folderScans.isEmpty || scan != nil || wantsScan, output.hasRoom() else {
            return false
        }
        if !folderScans.isEmpty {
            advanceFolderScan()
        } else if scan != nil {
            advanceFullScan()
        } else {
            beginScan(root, now)
        }
        return true
    }

    private func beginScan(_ root: InboxRoot, _ now: ContinuousClock.Instant) {
        wantsScan = false
        nextScan = now + settings.rescanPause * Double.random(in: 0.8...1.2)
        generation += 1
        var round = WatchRound()
        if inotify == nil, kind(of: root) == .local {
            let signal = signal
            do throws(SystemError) {
                inotify = try Inotify(capacity: settings.eventCapacity) { signal.raise() }
            } catch {
                round.failure = error.inotifyLimitRemedy ?? error.description
            }
        }
        scan = FullScan(
            scanner: InboxScanner(root, filter: filter), generation: generation, began: now,
            round: round)
        output.appendAlways(.scanBegan(generation: generation, afterAbsence: isAfterAbsence))
        isAfterAbsence = false
    }

    private func advanceFullScan() {
        guard var running = scan else { return }
        var round = running.round
        let batch = running.scanner.next(limit: settings.scanBatch) { path, folder in
            watch(folder, at: path, in: &round)
        }
        running.round = round
        scan = running
        guard let batch else { return endScan() }
        for entry in batch {
            if case .unread(let path, _) = entry { scan?.coverage.unread.append(path) }
            tell(entry)
        }
    }

    private func endScan() {
        guard let finished = scan else { return }
        scan = nil
        var coverage = finished.coverage
        let isThere = root.map { $0.isStill(at: path) && isOurs($0.folder) } ?? false
        if !isThere || coverage.unread.contains("") {
            coverage.isComplete = false
            nextCheck = clock.now
        }
        if coverage.isComplete {
            for watch in watches.keepOnly(finished.round.entered) { inotify?.remove(watch) }
        }
        output.appendAlways(.scanEnded(generation: finished.generation, coverage))
        settle(into: finished)
    }

    /// Chooses between watching and polling by how the scan went.
    private func settle(into finished: FullScan) {
        guard let root else { return }
        if kind(of: root) == .remote {
            enter(.polling(.remoteFileSystem))
        } else if let remedy = finished.round.failure {
            enter(.polling(.watchLimit(remedy: remedy)))
        } else {
            return enter(.watching)
        }
        // A big tree is not walked without pause.
        let pause = max(settings.pollPause, (clock.now - finished.began) * 20)
        nextScan = min(nextScan, clock.now + pause)
    }

    private func advanceFolderScan() {
        var running = folderScans.removeLast()
        var round = WatchRound()
        let batch = running.next(limit: settings.scanBatch) { path, folder in
            watch(folder, at: path, in: &round)
        }
        // Polling begins with a full scan; once it does, the next poll finds what is unwatched.
        if round.failure != nil, state == .watching { loseTrack() }
        // A full scan that runs meanwhile must not take these for leftovers.
        scan?.round.entered.formUnion(round.entered)
        guard let batch else { return }
        folderScans.append(running)
        for entry in batch { tell(entry) }
    }

    private func watch(
        _ folder: borrowing Folder, at path: BytePath, in round: inout WatchRound
    ) {
        guard let inotify else { return }
        do throws(SystemError) {
            let watch = try inotify.watch(folder)
            watches.set(watch, to: path)
            round.entered.insert(watch)
        } catch {
            if error.isNotFound { return }  // removed since it was opened
            round.failure = error.inotifyLimitRemedy ?? error.description
        }
    }

    private func tell(_ entry: InboxScanner.Entry) {
        switch entry {
        case .file(let path, let status): tell(.file(path, .scanned(status)))
        case .skipped(let path, let reason), .unread(let path, let reason):
            tell(.skipped(path, reason, nil))
        }
    }
}

extension Duration {
    fileprivate var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
