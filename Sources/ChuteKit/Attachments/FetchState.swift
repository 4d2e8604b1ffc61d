/// What one fetch has said so far, and so what it says next. A value without I/O or clock.
///
/// Whatever comes in, in whatever order: progress only grows, and there is exactly one terminal
/// event, after which nothing is said.
struct FetchState {
    /// What becomes known of the fetch.
    enum Input {
        /// So many bytes are here, or it goes on after it was stalled.
        case progress(UInt64)
        case stalled(holders: Set<DeviceID>)
        case completed(Attachment)
        case deleted
        case failed(ChuteError)
        case cancelled
    }

    private let total: UInt64
    private var done: UInt64 = 0
    private var hasSaidProgress = false
    private var holders: Set<DeviceID>?
    /// Whether the terminal event was said.
    private(set) var isOver = false

    init(total: UInt64) { self.total = total }

    /// The events that follow, in their order.
    mutating func handle(_ input: Input) -> [FetchEvent] {
        guard !isOver else { return [] }
        switch input {
        case .progress(let count): return advance(to: count)
        case .stalled(let new):
            guard holders != new else { return [] }
            holders = new
            return [.stalled(holders: new)]
        case .completed(let attachment):
            return advance(to: total) + end(with: .completed(attachment))
        case .deleted: return end(with: .deleted)
        case .failed(let error): return end(with: .failed(error))
        case .cancelled: return end(with: .cancelled)
        }
    }

    private mutating func advance(to count: UInt64) -> [FetchEvent] {
        let new = max(done, min(count, total))
        guard new > done || !hasSaidProgress || holders != nil else { return [] }
        done = new
        hasSaidProgress = true
        holders = nil
        return [.progress(downloadedBytes: done, totalBytes: total)]
    }

    private mutating func end(with event: FetchEvent) -> [FetchEvent] {
        isOver = true
        return [event]
    }
}
