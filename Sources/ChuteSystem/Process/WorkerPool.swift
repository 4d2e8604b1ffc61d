@preconcurrency import Dispatch
import Glibc
import Synchronization

/// A few threads for everything that only awaits: what the program prefers to Swift's own pool.
///
/// Swift's pool is Dispatch's, whose monitor wakes the process every second from the first work
/// on (`WorkThread`). Tasks inherit the preference from the one that made them, except by
/// `Task { }`: name it there.
///
/// ## Concurrency
/// Anybody may enqueue. Threads start when work finds none idle, up to a limit, and stay.
package final class WorkerPool: TaskExecutor {
    /// The program's.
    package static let shared = WorkerPool(
        limit: max(4, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))

    private struct State {
        var waiting: [UnownedJob] = []
        /// Those before are taken already.
        var head = 0
        var idleCount = 0
        var threadCount = 0

        mutating func take() -> UnownedJob? {
            guard head < waiting.count else { return nil }
            defer {
                head += 1
                if head == waiting.count {
                    waiting.removeAll(keepingCapacity: head <= 1024)
                    head = 0
                } else if head > 1024, head * 2 > waiting.count {
                    // Under steady work it never runs empty.
                    waiting.removeFirst(head)
                    head = 0
                }
            }
            return waiting[head]
        }
    }

    private let limit: Int
    private let state = Mutex(State())
    private let wakeup = DispatchSemaphore(value: 0)

    private init(limit: Int) { self.limit = limit }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (starts, wakes) = state.withLock { state -> (Bool, Bool) in
            state.waiting.append(job)
            if state.idleCount > 0 {
                state.idleCount -= 1
                return (false, true)
            }
            guard state.threadCount < limit else { return (false, false) }
            state.threadCount += 1
            return (true, false)
        }
        if wakes { wakeup.signal() }
        if starts { WorkThread.startDetached("chute.pool") { self.work() } }
    }

    private func work() {
        while true {
            let job = state.withLock { state -> UnownedJob? in
                let job = state.take()
                if job == nil { state.idleCount += 1 }
                return job
            }
            if let job {
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else {
                wakeup.wait()
            }
        }
    }
}
