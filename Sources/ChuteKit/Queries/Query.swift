/// Which documents of a collection, and in which order.
///
/// A value: nothing is read before it is asked to. Made by `DocumentCollection.findAll()` and
/// `find(_:)`. Documents come in the order of their ids where nothing else is said, and those that
/// the sorting finds equal too.
public struct Query: Sendable {
    let store: Store
    /// The name of the collection.
    public let collection: String
    /// What a document must be like.
    public private(set) var predicate: Predicate
    private(set) var sorting: [SortKey] = []
    private(set) var limit: Int?
    private(set) var offset = 0

    init(store: Store, collection: String, predicate: Predicate) {
        self.store = store
        self.collection = collection
        self.predicate = predicate
    }

    /// Which way a sorting goes.
    public enum Direction: Sendable {
        /// From the least to the greatest. Documents without the field come first.
        case ascending
        /// From the greatest to the least. Documents without the field come last.
        case descending
    }

    struct SortKey: Hashable, Sendable {
        let path: FieldPath
        let direction: Direction
    }

    /// The documents of these that also match `predicate`.
    public func `where`(_ predicate: Predicate) -> Query {
        var query = self
        query.predicate = self.predicate && predicate
        return query
    }

    /// Sorted by a field, within what was said before: the first sorting counts most.
    ///
    /// Values of all kinds have one order: none, null, false, true, numbers, texts by their bytes,
    /// bytes, arrays, maps, attachments.
    public func sort(by path: FieldPath, _ direction: Direction = .ascending) -> Query {
        var query = self
        query.sorting.append(SortKey(path: path, direction: direction))
        return query
    }

    /// At most so many, at least 0, after the sorting.
    public func limit(_ count: Int) -> Query {
        var query = self
        query.limit = max(0, count)
        return query
    }

    /// Without the first so many, at least 0, after the sorting.
    public func offset(_ count: Int) -> Query {
        var query = self
        query.offset = max(0, count)
        return query
    }

    /// Whether whatever matches is in the result, whatever else is.
    var isWhole: Bool { limit == nil && offset == 0 }

    /// How many documents have to be known at most; `nil` for all.
    var reach: Int? {
        limit.map { limit in
            let (sum, overflow) = limit.addingReportingOverflow(offset)
            return overflow ? .max : sum
        }
    }

    /// What sorts a document among the others, and tells it from them.
    func key(of fields: Fields, id: DocumentID) -> [UInt8] {
        guard !sorting.isEmpty else { return id.bytes }
        var key: [UInt8] = []
        for sort in sorting {
            let start = key.count
            OrderKey.append(fields[sort.path], to: &key)
            if sort.direction == .descending { OrderKey.invert(&key, from: start) }
        }
        return key + id.bytes
    }

    /// Throws `invalid` for a name that no collection has, and for a condition that is too deep.
    func check() throws {
        try DocumentCollection(store: store, name: collection).checkName()
        try predicate.check()
    }
}
