import ChuteSystem

public import class Dispatch.DispatchQueue

/// Getting the bytes of attachments that documents name. Anyone may call these.
extension DocumentCollection {
    /// Fetches an attachment: from this device where its bytes are here, else from whoever is
    /// connected and has it, now or later. Begins when the events are asked for.
    public func fetch(
        _ token: AttachmentToken, priority: FetchPriority = .normal
    ) -> AttachmentFetch {
        AttachmentFetch(collection: self, token: token, priority: priority)
    }

    /// Fetches an attachment, and calls `onFetchEvent` with each event, one after the other:
    /// on `deliverOn`, or else on a thread of the engine, where it must not block.
    ///
    /// The engine keeps the fetch going whether or not the fetcher is kept. `onFetchEvent` may
    /// call anything, `cancel` too. Throws where the fetch cannot begin: `invalid` or `closed`.
    @discardableResult
    public func fetchAttachment(
        token: AttachmentToken, deliverOn queue: DispatchQueue? = nil,
        priority: FetchPriority = .normal,
        onFetchEvent: @escaping @Sendable (FetchEvent) -> Void
    ) throws -> AttachmentFetcher {
        let subscription = try subscription(to: token, priority: priority)
        // Its parent would be the engine, which keeps it going until the terminal event: closing
        // the engine is one.
        Task(executorPreference: WorkerPool.shared) {
            await subscription.start()
            while let event = await subscription.next() {
                guard let queue else {
                    onFetchEvent(event)
                    continue
                }
                await withCheckedContinuation { continuation in
                    queue.async {
                        onFetchEvent(event)
                        continuation.resume()
                    }
                }
            }
        }
        return AttachmentFetcher(subscription)
    }

    /// Fetches an attachment and waits until its bytes are here.
    ///
    /// Throws `notFound` where no document names it (any more), what made it fail,
    /// `CancellationError`, `invalid` or `closed`. Waits for as long as nobody has it.
    public func attachment(
        for token: AttachmentToken, priority: FetchPriority = .normal,
        onProgress: (@Sendable (_ downloadedBytes: UInt64, _ totalBytes: UInt64) -> Void)? = nil
    ) async throws -> Attachment {
        for try await event in fetch(token, priority: priority) {
            switch event {
            case .progress(let done, let total): onProgress?(done, total)
            case .stalled: break
            case .completed(let attachment): return attachment
            case .deleted:
                throw ChuteError(.notFound, "no document names \(token.id) any more")
            case .failed(let error): throw error
            case .cancelled: throw CancellationError()
            }
        }
        throw CancellationError()
    }

    func subscription(
        to token: AttachmentToken, priority: FetchPriority
    ) throws -> FetchSubscription {
        try checkName()
        return FetchSubscription(
            token, priority: priority, service: try store.attachments.fetches)
    }
}
