import Synchronization

/// Tells those who follow a collection what each commit changed in it.
///
/// Whoever follows is added between two transactions, by the writer itself: a commit is told
/// either to it, or is part of every state that it reads afterwards.
final class DocumentFeed: Sendable {
    /// What one commit changed in one collection.
    struct Commit: Sendable {
        /// The number of the commit, or of the last of some that are told as one: see
        /// `Snapshot.commitNumber`.
        let number: UInt64
        /// The number of the first of them.
        let first: UInt64
        /// `nil` where nearly everything changed: read the collection anew.
        let changes: [DocumentChange]?

        init(number: UInt64, first: UInt64? = nil, changes: [DocumentChange]?) {
            self.number = number
            self.first = first ?? number
            self.changes = changes
        }
    }

    private struct Follower {
        let collection: String
        let sink: @Sendable (Commit) -> Void
    }

    private struct State {
        var followers: [UInt64: Follower] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The collections that somebody follows.
    var collections: Set<String> {
        state.withLock { Set($0.followers.values.map(\.collection)) }
    }

    /// `sink` is called on the writer's queue, right after the commit: it must not block.
    func add(_ collection: String, _ sink: @escaping @Sendable (Commit) -> Void) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.followers[state.last] = Follower(collection: collection, sink: sink)
            return state.last
        }
    }

    func remove(_ id: UInt64) { _ = state.withLock { $0.followers.removeValue(forKey: id) } }

    /// Tells everybody to look anew, a last time: the store is closed.
    func close() { publish(.max, [:], resets: [], isReset: true) }

    func publish(
        _ number: UInt64, _ changes: [String: [DocumentID: DocumentChange]],
        resets: Set<String>, isReset: Bool
    ) {
        guard isReset || !resets.isEmpty || !changes.isEmpty else { return }
        let followers = state.withLock { Array($0.followers.values) }
        for follower in followers {
            if isReset || resets.contains(follower.collection) {
                follower.sink(Commit(number: number, changes: nil))
            } else if let changed = changes[follower.collection] {
                follower.sink(Commit(number: number, changes: Array(changed.values)))
            }
        }
    }
}
