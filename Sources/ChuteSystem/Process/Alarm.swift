import CLinux
import Glibc
import Synchronization

/// Calls a handler at a moment that can be moved.
///
/// All alarms and pauses of the process share one kernel timer, which runs on while the machine
/// sleeps, and wake it together where their tolerances allow. The handler is called on the
/// poller's thread: it must not block.
package final class Alarm: Sendable {
    private let id = AlarmClock.shared.newID()
    private let handler: @Sendable () -> Void

    package init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

    deinit { cancel() }

    /// Calls the handler once, after `pause` or up to `tolerance` later, in place of what was set
    /// before.
    package func set(after pause: Duration, tolerance: Duration = .zero) {
        AlarmClock.shared.set(id, after: pause, tolerance) { [handler] isDue in
            if isDue { handler() }
        }
    }

    /// Takes back what was set.
    package func cancel() { AlarmClock.shared.cancel(id) }
}

extension Task where Success == Never, Failure == Never {
    /// Suspends for `duration`, or up to `tolerance` longer, as `Task.sleep` does.
    ///
    /// `Task.sleep` needs a timer and a thread of Dispatch's (`WorkThread`). Throws
    /// `CancellationError`, at once, when the task is cancelled.
    package static func pause(
        for duration: Duration, tolerance: Duration = .zero
    ) async throws {
        let clock = AlarmClock.shared
        let id = clock.newID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                clock.set(id, after: duration, tolerance) { isDue in
                    if isDue {
                        continuation.resume()
                    } else {
                        continuation.resume(throwing: _Concurrency.CancellationError())
                    }
                }
                // Cancelled before there was anything to take back.
                if Task<Never, Never>.isCancelled { clock.cancel(id) }
            }
        } onCancel: {
            clock.cancel(id)
        }
    }
}

/// The one timer behind all alarms, made at the first.
private final class AlarmClock: Sendable {
    static let shared = AlarmClock()

    /// Called once: `true` when the moment has come, `false` when it was taken back.
    typealias Handler = @Sendable (Bool) -> Void

    private struct State {
        var table = AlarmTable()
        var handlers: [UInt64: Handler] = [:]
        /// -1 where there is none yet.
        var timer: Int32 = -1
        var token: UInt64 = 0
        var armed: Int64?
    }

    private let lastID = Atomic<UInt64>(0)
    private let state = Mutex(State())

    func newID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    func set(
        _ id: UInt64, after pause: Duration, _ tolerance: Duration, _ handler: @escaping Handler
    ) {
        let earliest = BootMoment.sinceBoot + max(pause, .zero).nanoseconds
        let latest = earliest + max(tolerance, .zero).nanoseconds
        let former = state.withLock { state -> Handler? in
            if state.timer < 0 { start(&state) }
            state.table.set(id, earliest: earliest, latest: latest)
            arm(&state)
            return state.handlers.updateValue(handler, forKey: id)
        }
        former?(false)
    }

    func cancel(_ id: UInt64) {
        let handler = state.withLock { state -> Handler? in
            guard let handler = state.handlers.removeValue(forKey: id) else { return nil }
            state.table.remove(id)
            arm(&state)
            return handler
        }
        handler?(false)
    }

    private func start(_ state: inout State) {
        do throws(SystemError) {
            state.timer = try retrying("timerfd_create") { chute_boot_timer() }
            state.token = try Poller.shared.add(state.timer) { [weak self] _ in self?.ring() }
            try Poller.shared.arm(state.timer, state.token, for: .readable)
        } catch {
            // A program that may not have a timer when it starts can do nothing.
            preconditionFailure("no timer: \(error)")
        }
    }

    /// Sets the kernel's timer by the table.
    private func arm(_ state: inout State) {
        let next = state.table.nextWake
        guard next != state.armed else { return }
        state.armed = next
        // 0 would mean never. It can only fail for a wrong argument.
        _ = chute_set_boot_timer(state.timer, next.map { max($0, 1) } ?? 0)
    }

    private func ring() {
        let due = state.withLock { state -> [Handler] in
            var count: UInt64 = 0
            _ = read(state.timer, &count, MemoryLayout<UInt64>.size)  // unready again
            let ids = state.table.takeDue(BootMoment.sinceBoot)
            state.armed = nil
            arm(&state)
            do throws(SystemError) {
                try Poller.shared.arm(state.timer, state.token, for: .readable)
            } catch { preconditionFailure("the timer cannot be watched: \(error)") }
            return ids.compactMap { state.handlers.removeValue(forKey: $0) }
        }
        for handler in due { handler(true) }
    }
}

extension Duration {
    /// At most 30 years: so that sums fit.
    fileprivate var nanoseconds: Int64 {
        let (seconds, rest) = min(self, .seconds(1_000_000_000)).components
        return seconds * 1_000_000_000 + rest / 1_000_000_000
    }
}
