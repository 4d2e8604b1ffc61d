@preconcurrency package import Dispatch

/// A thread-like home for an actor whose work blocks: SQLite, `fsync`, hashing, copying.
///
/// One serial Dispatch queue. Work on it never takes a thread of the shared pool, so that an
/// actor that blocks delays nobody else.
package final class QueueExecutor: SerialExecutor {
    package let queue: DispatchQueue

    package init(label: String, qos: DispatchQoS = .unspecified) {
        queue = DispatchQueue(label: label, qos: qos)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
