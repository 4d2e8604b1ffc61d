@preconcurrency import Dispatch
import Glibc
import Synchronization

/// A thread for an actor whose work blocks: SQLite, `fsync`, hashing, copying.
///
/// Work on it never takes a thread of the shared pool, so that an actor that blocks delays nobody
/// else. The thread starts with the first work, waits without a timer, and ends with the executor.
///
/// ## Concurrency
/// Anybody may enqueue. What crosses to the thread lies under a lock; a semaphore wakes it, only
/// where it waits.
package final class QueueExecutor: SerialExecutor {
    private enum Work {
        /// With its executor, which must outlive it.
        case job(UnownedJob, QueueExecutor)
        case body(@Sendable () -> Void)
    }

    /// What the thread holds, so that it does not hold the executor.
    private final class Queue: Sendable {
        struct State {
            var waiting: [Work] = []
            var isStarted = false
            var isIdle = false
            var isClosed = false
            var thread: pthread_t?
        }

        let state = Mutex(State())
        let wakeup = DispatchSemaphore(value: 0)

        /// Runs what comes until the executor is gone.
        func work() {
            state.withLock { $0.thread = pthread_self() }
            while var batch = take() {
                // Taken out, so that what one holds goes with it: pieces, each of a mebibyte.
                while let work = batch.popLast() {
                    switch work {
                    case .job(let job, let executor):
                        job.runSynchronously(on: executor.asUnownedSerialExecutor())
                    case .body(let body): body()
                    }
                }
            }
        }

        /// All that waits, the first one last; `nil` when there will be no more.
        private func take() -> [Work]? {
            while true {
                let (batch, isOver) = state.withLock { state -> ([Work], Bool) in
                    let batch = state.waiting
                    state.waiting = []
                    state.isIdle = batch.isEmpty
                    return (batch, state.isClosed)
                }
                if !batch.isEmpty { return batch.reversed() }
                if isOver { return nil }
                wakeup.wait()
            }
        }
    }

    private let label: String
    private let queue = Queue()

    package init(label: String) { self.label = label }

    deinit {
        queue.state.withLock { $0.isClosed = true }
        queue.wakeup.signal()
    }

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job), self)) }

    /// Runs `body` on the thread, after all that waits.
    package func async(_ body: @escaping @Sendable () -> Void) { add(.body(body)) }

    private func add(_ work: Work) {
        let (starts, wakes) = queue.state.withLock { state -> (Bool, Bool) in
            state.waiting.append(work)
            defer {
                state.isStarted = true
                state.isIdle = false
            }
            return (!state.isStarted, state.isIdle)
        }
        if starts { WorkThread.startDetached(label) { [queue] in queue.work() } }
        if wakes { queue.wakeup.signal() }
    }

    package func checkIsolated() {
        let thread = queue.state.withLock { $0.thread }
        precondition(
            thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false,
            "not on the thread of \(label)")
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
