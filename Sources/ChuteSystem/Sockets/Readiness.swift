@preconcurrency package import Dispatch
import Glibc
import Synchronization

/// Waits until a descriptor can be read or written, without holding a thread.
///
/// ## Concurrency
/// Any tasks may wait. The Dispatch sources are
/// touched only under the lock; they watch duplicates, which their cancel handlers close, so
/// that the owner may close its own descriptor at any time.
package final class Readiness: Sendable {
    package enum Direction: Sendable { case read, write }

    private struct Watch {
        // Not Sendable; guarded by the lock of `state`.
        nonisolated(unsafe) let source: any DispatchSourceProtocol
        var isArmed = false
        var waiters: [CheckedContinuation<Bool, Never>] = []
    }

    private struct State {
        var read: Watch
        var write: Watch
        var isClosed = false

        subscript(direction: Direction) -> Watch {
            get { direction == .read ? read : write }
            set { if direction == .read { read = newValue } else { write = newValue } }
        }
    }

    private let state: Mutex<State>

    /// Watches `descriptor`, events arriving on `queue`. Throws `EMFILE` where there are no
    /// more descriptors.
    package init(descriptor: Int32, queue: DispatchQueue) throws(SystemError) {
        func duplicate() throws(SystemError) -> Int32 {
            try retrying("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        }
        let forReading = try duplicate()
        let forWriting: Int32
        do throws(SystemError) { forWriting = try duplicate() } catch {
            Glibc.close(forReading)
            throw error
        }
        let read = DispatchSource.makeReadSource(fileDescriptor: forReading, queue: queue)
        let write = DispatchSource.makeWriteSource(fileDescriptor: forWriting, queue: queue)
        read.setCancelHandler { @Sendable in Glibc.close(forReading) }
        write.setCancelHandler { @Sendable in Glibc.close(forWriting) }
        state = Mutex(State(read: Watch(source: read), write: Watch(source: write)))
        read.setEventHandler { @Sendable [weak self] in self?.fired(.read) }
        write.setEventHandler { @Sendable [weak self] in self?.fired(.write) }
    }

    deinit { close() }

    /// Suspends until the descriptor is ready; `false` once `close` was called or the task is
    /// cancelled. Ready can be wrong: try, and wait again.
    package func wait(_ direction: Direction) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if state.isClosed || Task.isCancelled { return false }
                    state[direction].waiters.append(continuation)
                    if !state[direction].isArmed {
                        state[direction].isArmed = true
                        state[direction].source.resume()
                    }
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            close()
        }
    }

    private func fired(_ direction: Direction) {
        let waiters = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard !state.isClosed else { return [] }
            if state[direction].isArmed {
                state[direction].isArmed = false
                state[direction].source.suspend()
            }
            defer { state[direction].waiters = [] }
            return state[direction].waiters
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Ends all waiting, now and later. Idempotent.
    package func close() {
        let waiters = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard !state.isClosed else { return [] }
            state.isClosed = true
            var waiters: [CheckedContinuation<Bool, Never>] = []
            for direction in [Direction.read, .write] {
                // A source must not be suspended when it is cancelled and let go.
                if !state[direction].isArmed { state[direction].source.resume() }
                state[direction].isArmed = true
                state[direction].source.cancel()
                waiters += state[direction].waiters
                state[direction].waiters = []
            }
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: false) }
    }
}
