/// A fetch whose events go to a closure. The engine keeps it going: this is only for `cancel`.
public final class AttachmentFetcher: Sendable {
    /// What is fetched.
    public var token: AttachmentToken { subscription.token }
    private let subscription: FetchSubscription

    init(_ subscription: FetchSubscription) { self.subscription = subscription }

    /// Ends the fetch: its last event is `cancelled`, unless another terminal event came first.
    ///
    /// May be called from anywhere, also from the closure, and more than once. Other fetches of
    /// the same attachment go on; what was fetched is kept for the next.
    public func cancel() { subscription.cancel() }
}
