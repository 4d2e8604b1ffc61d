/// How the documents of a query are found. The whole condition is looked at again for each of
/// them: a plan only decides how many are looked at.
struct QueryPlan: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        /// By their ids, in this order.
        case ids([[UInt8]])
        /// Everything with an id in a range, in the order of the ids.
        case scan(KeyRange)
        /// What an index has in some ranges, in the order of its values.
        case index(Int64, KeyRanges, descending: Bool)
    }

    enum Order: Hashable, Sendable {
        /// They come as the query wants them.
        case whole
        /// The values of the index come as the query wants them; the rest is to be sorted within
        /// each.
        case byIndex
        /// All have to be sorted.
        case none
    }

    let source: Source
    let order: Order

    /// Chooses among the indexes that know all documents.
    init(_ query: Query, indexes: [FieldIndex]) {
        let byID: Order = query.sorting.isEmpty ? .whole : .none
        let ids = query.predicate.ranges(of: .id)
        if let ids, ids.arePoints {
            (source, order) = (.ids(ids.all.map(\.lower)), byID)
            return
        }
        let candidates = indexes.map { index in
            Candidate(
                index: index,
                ranges: query.predicate.ranges(of: .field(index.path))?.cut(
                    to: FieldIndex.keyLimit),
                query: query)
        }
        if let best = candidates.min(by: { $0.rank < $1.rank }), best.rank < Candidate.useless {
            let ranges = best.ranges ?? KeyRanges([.everything])
            let isSorted = best.isSorting && (query.limit != nil || !best.isDescending)
            source = .index(
                best.index.number, ranges, descending: isSorted && best.isDescending)
            order = isSorted ? .byIndex : .none
            return
        }
        let range =
            ids.flatMap { ids in
                ids.all.first.flatMap { first in
                    ids.all.last.map { KeyRange(lower: first.lower, upper: $0.upper) }
                }
            } ?? .everything
        (source, order) = (.scan(range), byID)
    }

    /// An index and what it would save.
    private struct Candidate {
        let index: FieldIndex
        let ranges: KeyRanges?
        /// Whether it gives the order that counts most.
        let isSorting: Bool
        let isDescending: Bool
        let rank: Int

        static let useless = 5

        init(index: FieldIndex, ranges: KeyRanges?, query: Query) {
            self.index = index
            self.ranges = ranges
            let first = query.sorting.first
            isSorting = first?.path == index.path
            isDescending = first?.direction == .descending
            let endsEarly = isSorting && query.limit != nil
            rank =
                switch ranges {
                case let ranges? where ranges.arePoints: 0
                case let ranges? where ranges.all.allSatisfy(\.isNarrow): endsEarly ? 1 : 2
                case _ where endsEarly: 3
                case .some: 4
                case nil: Self.useless
                }
        }
    }
}

extension KeyRange {
    /// Whether both of its ends come from values, not from a kind of values.
    fileprivate var isNarrow: Bool { lower.count > 1 && upper.count > 1 && upper != Self.top }
}
