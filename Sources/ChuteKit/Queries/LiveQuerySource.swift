/// Follows what becomes of a query's result, for one observer.
///
/// ## Concurrency
/// `next` is called by one task, one call after the other. What it awaits is the writer once, to
/// follow it, and the reader where the changes alone do not tell the result; neither waits for it.
actor LiveQuerySource {
    typealias Element = (documents: Documents, event: LiveQueryEvent)

    private let query: Query
    private let commits: CommitQueue
    private var follower: UInt64?
    private var result: LiveResult?
    /// The number of the last commit that is in the result.
    private var seen: UInt64 = 0

    /// `limit` is how many commits may wait, beyond which they are told as one.
    init(_ query: Query, limit: Int) {
        self.query = query
        commits = CommitQueue(limit: limit)
    }

    deinit {
        if let follower { query.store.writer.unfollow(follower) }
    }

    /// The first result, then each that differs from the one before; `nil` once the task is
    /// cancelled.
    func next() async throws -> Element? {
        guard let result else { return try await begin() }
        var old = result
        while let commit = await commits.next() {
            guard commit.number > seen else { continue }
            // Of some that are told as one a part may be in the result already.
            let changes = commit.first > seen ? commit.changes : nil
            let step = try changes.map { try old.applying($0) } ?? .unknown
            switch step {
            case .same: seen = commit.number
            case .next(let new, let difference):
                seen = commit.number
                self.result = new
                return (new.documents, .update(.init(difference, from: old.documents)))
            case .unknown:
                let new = try await read()
                self.result = new
                let difference = ListDifference(from: old.list, to: new.list)
                if !difference.isEmpty {
                    return (new.documents, .update(.init(difference, from: old.documents)))
                }
                old = new
            }
        }
        return nil
    }

    private func begin() async throws -> Element? {
        try query.check()
        // First followed, then read: a commit is told, or is in what is read, or both.
        follower = await query.store.writer.follow(query.collection) { [commits] in
            commits.post($0)
        }
        let result = try await read()
        if Task.isCancelled { return nil }
        self.result = result
        return (result.documents, .initial)
    }

    private func read() async throws -> LiveResult {
        let query = query
        let (result, number) = try await query.read {
            (try $0.liveResult(of: query), try $0.commitNumber())
        }
        seen = number
        return result
    }
}
