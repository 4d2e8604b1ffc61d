import ChuteSystem
@preconcurrency import Dispatch
import Synchronization

/// An observer of a query's result, for as long as this is held.
///
/// It ends with `cancel()`, and when the last reference to this is gone. A callback that holds it
/// keeps it: then only `cancel()` ends it.
public final class LiveQuery: Sendable {
    typealias Handler = @Sendable (Documents, LiveQueryEvent) -> Void

    /// How many commits wait for a callback that is slow, before what comes is told as one.
    static let waitingLimit = 256

    private let isCancelled: Flag
    private let task: Task<Void, Never>

    /// What the observer's task holds, which does not hold the observer.
    private final class Flag: Sendable {
        private let state = Mutex(false)
        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }

    init(_ query: Query, deliverOn queue: DispatchQueue?, _ handler: @escaping Handler) {
        let flag = Flag()
        let source = LiveQuerySource(query, limit: Self.waitingLimit)
        isCancelled = flag
        // Unstructured: it ends with this object.
        task = Task(executorPreference: WorkerPool.shared) {
            let delivery = Delivery(queue)
            do {
                while let (documents, event) = try await source.next() {
                    await delivery.run { if !flag.isSet { handler(documents, event) } }
                }
            } catch {
                let known = error as? ChuteError
                let failure =
                    known
                    ?? ChuteError(
                        .cannotRead,
                        "the documents of \(query.collection) cannot be observed any more",
                        cause: error)
                await delivery.run {
                    if !flag.isSet { handler(Documents(), .failed(failure)) }
                }
            }
        }
    }

    deinit { cancel() }

    /// Ends it. No callback begins after this, except where one is about to on another thread;
    /// on the queue that callbacks are delivered on, none at all. Anybody may call it, any number
    /// of times, the callback too.
    public func cancel() {
        isCancelled.set()
        task.cancel()
    }

    /// Runs callbacks, which may block, one after the other.
    private struct Delivery: Sendable {
        private let enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void

        init(_ queue: DispatchQueue?) {
            if let queue {
                enqueue = { queue.async(execute: $0) }
            } else {
                // A thread of its own: who blocks in a callback delays nobody else.
                let executor = QueueExecutor(label: "chute.observer")
                enqueue = { executor.async($0) }
            }
        }

        func run(_ body: @escaping @Sendable () -> Void) async {
            await withCheckedContinuation { continuation in
                enqueue {
                    body()
                    continuation.resume()
                }
            }
        }
    }
}
