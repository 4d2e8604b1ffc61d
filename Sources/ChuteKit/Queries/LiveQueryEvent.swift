/// What an observer is told. Cases are added over time: have an `@unknown default`.
@nonexhaustive public enum LiveQueryEvent: Sendable {
    /// The result as it is when the observer begins. Once, before all else.
    case initial
    /// The result is another one.
    case update(LiveQueryUpdate)
    /// The result cannot be read any more. Nothing comes after it.
    case failed(ChuteError)
}

/// How a result became the next one.
///
/// Without those at `deletions` and at the `from` of `moves`, and with those at `insertions` and at
/// the `to` of `moves` put in, from the least index to the greatest, the old result becomes the new
/// one, in which those at `updates` have another content.
public struct LiveQueryUpdate: Sendable {
    /// A document that has another place among the others.
    public struct Move: Hashable, Sendable {
        /// Where it was in the old result.
        public let from: Int
        /// Where it is in the new result.
        public let to: Int
    }

    /// Where in the new result documents are that were not in the old one, rising.
    public let insertions: [Int]
    /// Where in the old result documents were that are not in the new one, rising.
    public let deletions: [Int]
    /// Where in the new result documents are that have another content, rising; they can have moved
    /// too.
    public let updates: [Int]
    /// Documents of both results that changed places, by where they are now.
    public let moves: [Move]
    /// The result before.
    public let oldDocuments: Documents

    init(_ difference: ListDifference, from old: Documents) {
        insertions = difference.insertions
        deletions = difference.deletions
        updates = difference.updates
        moves = difference.moves
        oldDocuments = old
    }
}
