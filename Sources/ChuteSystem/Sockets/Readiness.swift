import Glibc
import Synchronization

/// Waits until a descriptor can be read or written, without holding a thread.
///
/// ## Concurrency
/// Any tasks may wait. The poller's thread resumes them; what crosses lies under the lock. A
/// duplicate of the descriptor is watched, so that the owner may close its own at any time.
package final class Readiness: Sendable {
    package enum Direction: Sendable { case read, write }

    private typealias Waiter = CheckedContinuation<Bool, Never>

    private struct State {
        var readers: [Waiter] = []
        var writers: [Waiter] = []
        /// `nil` once it is closed.
        var token: UInt64?

        /// What the waiters wait for.
        var events: Poller.Events {
            var events: Poller.Events = []
            if !readers.isEmpty { events.insert(.readable) }
            if !writers.isEmpty { events.insert(.writable) }
            return events
        }

        mutating func takeAll() -> [Waiter] {
            defer { (readers, writers) = ([], []) }
            return readers + writers
        }
    }

    private let raw: Int32
    private let state = Mutex(State())

    /// Watches `descriptor`, a socket or pipe. Throws `EMFILE` where there are no more
    /// descriptors.
    package init(descriptor: Int32) throws(SystemError) {
        raw = try retrying("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        do throws(SystemError) {
            let token = try Poller.shared.add(raw) { [weak self] in self?.happened($0) }
            state.withLock { $0.token = token }
        } catch {
            Glibc.close(raw)
            throw error
        }
    }

    deinit { close() }

    /// Suspends until the descriptor is ready; `false` once `close` was called, the task is
    /// cancelled or the system refuses to watch. Ready can be wrong: try, and wait again.
    package func wait(_ direction: Direction) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard let token = state.token, !Task.isCancelled else { return false }
                    switch direction {
                    case .read: state.readers.append(continuation)
                    case .write: state.writers.append(continuation)
                    }
                    do throws(SystemError) {
                        try Poller.shared.arm(raw, token, for: state.events)
                        return true
                    } catch {
                        switch direction {
                        case .read: state.readers.removeLast()
                        case .write: state.writers.removeLast()
                        }
                        return false
                    }
                }
                if !isWaiting { continuation.resume(returning: false) }
            }
        } onCancel: {
            close()
        }
    }

    private func happened(_ events: Poller.Events) {
        let (ready, isBroken) = state.withLock { state -> (ready: [Waiter], isBroken: Bool) in
            guard let token = state.token else { return ([], false) }
            var ready: [Waiter] = []
            if !events.isDisjoint(with: [.readable, .ended]) {
                ready += state.readers
                state.readers = []
            }
            if !events.isDisjoint(with: [.writable, .ended]) {
                ready += state.writers
                state.writers = []
            }
            guard !state.events.isEmpty else { return (ready, false) }
            do throws(SystemError) {
                try Poller.shared.arm(raw, token, for: state.events)
                return (ready, false)
            } catch { return (ready, true) }
        }
        for waiter in ready { waiter.resume(returning: true) }
        if isBroken { close() }  // nobody would wake the others
    }

    /// Ends all waiting, now and later. Idempotent.
    package func close() {
        let waiters = state.withLock { state -> [Waiter] in
            guard let token = state.token else { return [] }
            state.token = nil
            Poller.shared.remove(raw, token)
            Glibc.close(raw)
            return state.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: false) }
    }
}
