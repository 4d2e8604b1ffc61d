import Synchronization

/// What a commit touched; whoever waits on one of these looks again.
public struct Topics: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// A set of these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Changes to pass on.
    public static let changes = Topics(rawValue: 1)
    /// Documents.
    public static let documents = Topics(rawValue: 2)
    /// The members, or the space itself.
    public static let members = Topics(rawValue: 4)
    /// Receipts.
    public static let receipts = Topics(rawValue: 8)
    /// Attachments to fetch.
    public static let wants = Topics(rawValue: 16)
    /// Bytes that lie here now, or no more.
    public static let locations = Topics(rawValue: 32)
    /// Wants that were taken back.
    static let withdrawals = Topics(rawValue: 128)
    /// What other processes ask.
    public static let requests = Topics(rawValue: 64)
}

/// Tells waiters that something was committed. Only "look again": no facts travel here.
final class ChangeSignal: Sendable {
    private struct Waiter {
        let topics: Topics
        let continuation: AsyncStream<Void>.Continuation
    }

    /// `nil` once it is closed.
    private let waiters = Mutex<[UInt64: Waiter]?>([:])
    private let nextID = Atomic<UInt64>(0)

    /// One element now, and one after each commit that touched one of `topics`; many commits
    /// can be one element. Ends when its task is cancelled, it is dropped or the signal is closed.
    func updates(of topics: Topics) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = nextID.add(1, ordering: .relaxed).newValue
        continuation.onTermination = { [weak self] _ in
            self?.waiters.withLock { $0?[id] = nil }
        }
        let isOpen = waiters.withLock { waiters in
            waiters?[id] = Waiter(topics: topics, continuation: continuation)
            return waiters != nil
        }
        if isOpen { continuation.yield() } else { continuation.finish() }
        return stream
    }

    func fire(_ topics: Topics) {
        guard !topics.isEmpty else { return }
        let due = waiters.withLock { waiters in
            (waiters ?? [:]).values.filter { !$0.topics.isDisjoint(with: topics) }
                .map(\.continuation)
        }
        for continuation in due { continuation.yield() }
    }

    /// Ends all waiting, for good.
    func close() {
        let all = waiters.withLock { waiters in
            defer { waiters = nil }
            return (waiters ?? [:]).values.map(\.continuation)
        }
        for continuation in all { continuation.finish() }
    }
}
