import Synchronization

/// Hands what the writer commits to one observer, without ever holding up the writer.
///
/// What waits is bounded: commits beyond a number are one with those before them, and where they
/// change too much all that waits says only that the collection has to be read.
final class CommitQueue: Sendable {
    /// What some commits in a row changed, each document once.
    private struct Merged {
        private let first: UInt64
        private(set) var number: UInt64
        /// `nil` where the collection has to be read.
        private(set) var changes: [DocumentID: DocumentChange]?
        private(set) var size = 0

        /// More bytes of documents than this are not kept.
        static let sizeLimit = 16 << 20

        init(_ commit: DocumentFeed.Commit) {
            first = commit.first
            number = commit.number
            changes = [:]
            add(commit)
        }

        mutating func add(_ commit: DocumentFeed.Commit) {
            number = commit.number
            guard let new = commit.changes, changes != nil else {
                changes = nil
                return
            }
            for change in new {
                let first = changes?[change.id]
                changes?[change.id] = DocumentChange(
                    id: change.id, origin: change.origin,
                    old: first.map(\.old) ?? change.old, new: change.new)
                size += 64 + (change.old?.count ?? 0) + (change.new?.count ?? 0)
            }
            if size > Self.sizeLimit { changes = nil }
        }

        var commit: DocumentFeed.Commit {
            DocumentFeed.Commit(
                number: number, first: first, changes: changes.map { Array($0.values) })
        }
    }

    private struct State {
        var waiting: [Merged] = []
        var reader: CheckedContinuation<DocumentFeed.Commit?, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())

    /// A queue in which at most `limit` commits wait, at least one.
    init(limit: Int) { self.limit = limit }

    /// Adds a commit; never blocks. The numbers rise from one to the next.
    func post(_ commit: DocumentFeed.Commit) {
        let reader = state.withLock { state in
            if let reader = state.reader.take() { return Optional(reader) }
            if state.waiting.count < limit {
                state.waiting.append(Merged(commit))
            } else {
                // All that wait together would be one in the end: the last one takes what comes.
                state.waiting[limit - 1].add(commit)
            }
            if state.waiting.reduce(0, { $0 + $1.size }) > Merged.sizeLimit {
                state.waiting = [Merged(.init(number: commit.number, changes: nil))]
            }
            return nil
        }
        reader?.resume(returning: commit)
    }

    /// The next commit; `nil` once the task is cancelled. One reader at a time.
    func next() async -> DocumentFeed.Commit? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (now, isDone) = state.withLock { state -> (DocumentFeed.Commit?, Bool) in
                    if Task.isCancelled { return (nil, true) }
                    if !state.waiting.isEmpty { return (state.waiting.removeFirst().commit, true) }
                    precondition(state.reader == nil, "an observer has one reader")
                    state.reader = continuation
                    return (nil, false)
                }
                if isDone { continuation.resume(returning: now) }
            }
        } onCancel: {
            let reader = state.withLock { $0.reader.take() }
            reader?.resume(returning: nil)
        }
    }
}
