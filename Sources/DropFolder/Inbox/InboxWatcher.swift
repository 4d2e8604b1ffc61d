package import ChuteSystem
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

    private let executor = QueueExecutor(label: "chute.inbox")
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    let path: BytePath
    let filter: InboxFilter
    let settings: Settings
    let isOurs: RootCheck
    let letGo: @Sendable () -> Void
    let clock = ContinuousClock()
    let signal: WakeSignal
    let output: SightingQueue
    let currentRoot = Mutex<InboxRoot?>(nil)
    let isScanAsked = Mutex(false)

    var inotify: Inotify?
    var watches = WatchTable()
    var state: InboxState?
    var scan: FullScan?
    var folderScans: [InboxScanner] = []
    var wantsScan = false
    var isAfterAbsence = true
    var generation: UInt64 = 0
    var nextScan: ContinuousClock.Instant
    var nextCheck: ContinuousClock.Instant

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
        let alarm = Alarm { signal.raise() }
        defer {
            alarm.cancel()
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
            // While events come, the look at the folder can wait for other work to wake for.
            alarm.set(after: pause, tolerance: state == .watching ? settings.checkPause : .zero)
            await signal.wait()
        }
    }
}
