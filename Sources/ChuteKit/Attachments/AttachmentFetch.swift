import ChuteSystem

/// The events of fetching an attachment: see `FetchEvent`.
///
/// Begins when iteration does; each iteration is a fetch of its own, and all fetches of one
/// attachment share one transfer. Leaving the loop early cancels, and so does cancelling the
/// task, of which the last event is `cancelled`. What was fetched by then is kept for the next.
public struct AttachmentFetch: AsyncSequence, Sendable {
    /// What the fetch says.
    public typealias Element = FetchEvent

    let collection: DocumentCollection
    let token: AttachmentToken
    let priority: FetchPriority

    /// Begins to fetch with the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(fetch: self) }

    /// One fetch.
    public final class Iterator: AsyncIteratorProtocol {
        private let fetch: AttachmentFetch
        private var subscription: FetchSubscription?

        init(fetch: AttachmentFetch) { self.fetch = fetch }

        deinit { subscription?.cancel() }

        /// The next event; `nil` after the terminal one. Throws where the fetch cannot begin:
        /// `invalid` or `closed`.
        public func next() async throws -> FetchEvent? {
            if let subscription { return await subscription.next() }
            let new = try fetch.collection.subscription(
                to: fetch.token, priority: fetch.priority)
            subscription = new
            await new.start()
            return await new.next()
        }
    }
}
