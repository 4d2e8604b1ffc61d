import Glibc
import Synchronization

/// Announces one service on the links of this host and looks for others of its type: through the
/// Avahi daemon, or with Avahi's core in this process for as long as no daemon answers.
///
/// ## Concurrency
/// A thread of its own owns all of Avahi's objects (`AvahiThread`). What crosses lies under a
/// lock: the announcement that is wanted, whether to stop, and where to wake the thread.
package final class MulticastDNS: Sendable {
    struct Orders {
        var announcement: ServiceAnnouncement?
        var unwatched = UnwatchedSightings()
        var isStopped = false
    }

    private struct State {
        var orders = Orders()
        var isNew = false
        var hasEnded = false
        /// Wakes the thread; `nil` while it has nothing to be woken from.
        var wake: (@Sendable () -> Void)?
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Those to resume.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }

    private let state = Mutex(State())

    /// Starts at once. `interfaces` by name, none for all but loopback; they may come and go.
    /// `changed` is called on the thread with each new state, and must not block.
    package init(
        serviceType: String, interfaces: [String],
        changed: @escaping @Sendable (MulticastDNSState) -> Void
    ) {
        WorkThread.startDetached("chute.mdns") { [self] in
            AvahiThread(self, type: serviceType, interfaces: interfaces, changed: changed).run()
            state.withLock { state in
                state.hasEnded = true
                state.wake = nil
                return state.takeWaiters()
            }.forEach { $0.resume() }
        }
    }

    /// Announces this from now on, or nothing; it fails and is mended in `changed`'s state.
    package func announce(_ announcement: ServiceAnnouncement?) {
        order { $0.announcement = announcement }
    }

    /// Watches no more what was seen like this, and all else.
    package func leaveUnwatched(_ sightings: UnwatchedSightings) {
        order { $0.unwatched = sightings }
    }

    /// Takes everything back and ends the thread. Returns when others were told, or after a
    /// second: a daemon that does not answer is not waited for. Not cut short by cancellation.
    package func stop() async {
        order { $0.isStopped = true }
        let alarm = Alarm { [self] in
            state.withLock { $0.takeWaiters() }.forEach { $0.resume() }
        }
        alarm.set(after: .seconds(1))
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        alarm.cancel()
    }

    private func order(_ change: (inout Orders) -> Void) {
        state.withLock { state in
            change(&state.orders)
            state.isNew = true
            // Under the lock: what is woken is freed only when `wake` was taken away.
            state.wake?()
        }
    }

    // For the thread.

    /// What is wanted, where that is new since the last time.
    func takeOrders() -> Orders? {
        state.withLock { state in
            defer { state.isNew = false }
            return state.isNew ? state.orders : nil
        }
    }

    var hasNewOrders: Bool { state.withLock { $0.isNew } }

    func setWake(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.wake = wake } }
}
