import ChuteSystem

/// Keeps an observer of peers alive: it hears nothing more once this is cancelled or dropped.
public final class PeerObserver: Sendable {
    private let task: Task<Void, Never>

    init(_ updates: AsyncStream<[Peer]>, _ handler: @escaping @Sendable ([Peer]) -> Void) {
        // Lives as long as whoever observes keeps this.
        task = Task(executorPreference: WorkerPool.shared) {
            for await peers in updates {
                if Task.isCancelled { return }
                handler(peers)
            }
        }
    }

    deinit { task.cancel() }

    /// Ends it; from the handler too. A call that is under way on another thread may still end
    /// after this returns; none begins.
    public func cancel() { task.cancel() }
}
