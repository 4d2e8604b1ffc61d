import ChuteSystem
import Synchronization

/// Whether an engine replicates: on, off, or off for good.
///
/// ## Concurrency
/// What is on lies under a lock; all waiting is for a stretch's gates, which open at its end.
/// A stretch holds what it works with, never the engine itself.
final class SyncSwitch: Sendable {
    /// Replicates until the stretch's `stop` is closed or the task is cancelled, and opens its
    /// `begun` once it has begun.
    typealias Work = @Sendable (Stretch) async throws -> Void

    /// Replication from one start to its end.
    final class Stretch: Sendable {
        /// By `run`: its caller ends it, by a cancel.
        let isCallers: Bool
        let stop = Mailbox<Void>()
        let begun = Gate()
        let ended = Gate()
        let failure = Mutex<(any Error)?>(nil)

        init(isCallers: Bool) { self.isCallers = isCallers }
    }

    private enum State {
        case off
        case on(Stretch)
        case stopping(Stretch)
        /// Off for good, after this stretch.
        case closed(Stretch?)
    }

    private let state = Mutex(State.off)
    private let diagnostics: Diagnostics
    private let work: Work

    init(diagnostics: Diagnostics, work: @escaping Work) {
        self.diagnostics = diagnostics
        self.work = work
    }

    /// Whether it is on; not while it stops.
    var isOn: Bool { state.withLock { if case .on = $0 { true } else { false } } }

    /// Throws `closed` where it is off for good.
    func checkOpen() throws {
        if state.withLock({ if case .closed = $0 { true } else { false } }) {
            throw ChuteError.closed
        }
    }

    /// Turns it on, if it is not; returns once it has begun.
    ///
    /// Throws what ended it before that, `closed`, `alreadySyncing` beside `run`, or
    /// `CancellationError` before anything was done.
    func start() async throws {
        try Task.checkCancellation()
        let (stretch, isNew) = try await take(isCallers: false)
        if isNew {
            // Outlives the call that began it, until it is stopped.
            Task(executorPreference: WorkerPool.shared) { await self.perform(stretch) }
        }
        await stretch.begun.wait()
        if let failure = stretch.failure.withLock({ $0 }) { throw failure }
    }

    /// Is on for as long as this runs: until the task is cancelled, or it is turned off. Throws
    /// what ended it, `closed`, or `alreadySyncing`.
    func run() async throws {
        let (stretch, _) = try await take(isCallers: true)
        await perform(stretch)
        if let failure = stretch.failure.withLock({ $0 }) { throw failure }
    }

    /// Turns it off; nothing of it is left when this returns.
    func stop() async {
        let stretch = state.withLock { state -> Stretch? in
            switch state {
            case .off, .closed: return nil
            case .stopping(let stretch): return stretch
            case .on(let stretch):
                state = .stopping(stretch)
                return stretch
            }
        }
        stretch?.stop.close()
        await stretch?.ended.wait()
    }

    /// Turns it off for good, which `ended` waits for; `false` where that was done before.
    @discardableResult
    func close() -> Bool {
        let (stretch, isFirst) = state.withLock { state -> (Stretch?, Bool) in
            switch state {
            case .closed: return (nil, false)
            case .off:
                state = .closed(nil)
                return (nil, true)
            case .on(let stretch), .stopping(let stretch):
                state = .closed(stretch)
                return (stretch, true)
            }
        }
        stretch?.stop.close()
        return isFirst
    }

    /// After `close`: returns once nothing of it is left.
    func ended() async {
        let last = state.withLock { state -> Stretch? in
            if case .closed(let last) = state { last } else { nil }
        }
        await last?.ended.wait()
    }

    private enum Step {
        case begin(Stretch)
        case join(Stretch)
        case waitFor(Stretch)
        case refuse(ChuteError)
    }

    /// The stretch that is on, and whether it is a new one, which the caller performs.
    private func take(isCallers: Bool) async throws -> (Stretch, isNew: Bool) {
        while true {
            switch state.withLock({ Self.step(&$0, isCallers) }) {
            case .begin(let stretch): return (stretch, true)
            case .join(let stretch): return (stretch, false)
            case .waitFor(let stretch): await stretch.ended.wait()
            case .refuse(let error): throw error
            }
        }
    }

    private static func step(_ state: inout State, _ isCallers: Bool) -> Step {
        switch state {
        case .closed: return .refuse(.closed)
        case .stopping(let stretch): return .waitFor(stretch)
        case .on(let stretch):
            guard !isCallers, !stretch.isCallers else {
                return .refuse(
                    ChuteError(
                        .alreadySyncing,
                        "this engine replicates already, by another call: use startSync and "
                            + "stopSync, or run, and not both at once"))
            }
            return .join(stretch)
        case .off:
            let stretch = Stretch(isCallers: isCallers)
            state = .on(stretch)
            return .begin(stretch)
        }
    }

    private func perform(_ stretch: Stretch) async {
        var failure: (any Error)?
        do { try await work(stretch) } catch { failure = error }
        let wasStopped = state.withLock { state in
            switch state {
            case .on:
                state = .off
                return false
            case .stopping: state = .off
            case .off, .closed: break
            }
            return true
        }
        if let failure {
            if wasStopped || stretch.isCallers {
                diagnostics.debug("replication was stopped: \(failure)")
            } else {
                diagnostics.warning("replication ended: \(failure); start it again to go on")
            }
        }
        if !wasStopped || stretch.isCallers { stretch.failure.withLock { $0 = failure } }
        stretch.begun.open()
        stretch.ended.open()
    }
}
