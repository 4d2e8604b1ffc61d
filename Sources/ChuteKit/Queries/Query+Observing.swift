public import Dispatch

extension Query {
    /// Calls `handler` with the result as it is, then once after each commit that changes it, with
    /// what changed, for as long as the returned observer is held and not cancelled.
    ///
    /// Calls come one after the other: on `queue`, or on a thread of the observer's own. They may
    /// take any time and do anything; nobody who writes waits for them. Commits that come
    /// meanwhile wait; from 256 on, or 16 MiB of documents, they are told as one. Where the result cannot be
    /// read, or the query cannot be, the last call is `.failed`.
    public func observe(
        deliverOn queue: DispatchQueue? = nil,
        _ handler: @escaping @Sendable (Documents, LiveQueryEvent) -> Void
    ) -> LiveQuery {
        LiveQuery(self, deliverOn: queue, handler)
    }

    /// The result as it is, then each that differs from the one before, with what changed.
    ///
    /// Whoever reads slowly is told of many commits at once: no more than one result waits.
    /// Reading ends without an error when the task is cancelled; throws what reading the store
    /// throws, and `invalid` for a query that cannot be.
    public func snapshots() -> LiveQuerySnapshots { LiveQuerySnapshots(query: self) }
}

/// Results of a query, one after the other. Each iterator observes on its own, from its first
/// element until it is gone.
public struct LiveQuerySnapshots: AsyncSequence, Sendable {
    /// A result, and how it came out of the one before.
    public typealias Element = (documents: Documents, event: LiveQueryEvent)

    let query: Query

    /// Begins to observe with its first element.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: LiveQuerySource(query, limit: 1))
    }

    /// Waits for results.
    public struct Iterator: AsyncIteratorProtocol {
        let source: LiveQuerySource
        private var isOver = false

        init(source: LiveQuerySource) { self.source = source }

        /// The next result; `nil` once the task is cancelled, or after an error was thrown.
        public mutating func next() async throws -> Element? {
            if isOver { return nil }
            isOver = true
            guard let element = try await source.next() else { return nil }
            isOver = false
            return element
        }
    }
}
