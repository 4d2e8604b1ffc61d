/// A document that anybody may write, as the changes about it make it. A value: the same changes
/// give the same document on every device, in whatever order they came.
///
/// Writes count in the order of their stamps, then of their authors, then of the hashes of their
/// changes. Each sets or removes the value at its path; what is on the way to it and is no map
/// becomes one. A removal ends all writes before it, and only an insert after it brings the
/// document back. A change of which no write shows any more counts no longer: it is not `live`,
/// and the rest give the same document without it.
struct MergedDocument {
    /// One change about the document, and where it is kept.
    struct Entry: Sendable {
        /// The row of the change.
        let number: Int64
        let order: Order
        /// `nil` for a removal.
        let writes: FieldWrites?
    }

    /// When a change counts, among all changes of one document.
    struct Order: Hashable, Comparable, Sendable {
        let stamp: Stamp
        let author: DeviceID
        let hash: Digest

        static func < (left: Self, right: Self) -> Bool {
            (left.stamp, left.author, left.hash) < (right.stamp, right.author, right.hash)
        }
    }

    /// The content; `nil` where it was removed, or not made yet.
    let fields: Fields?
    /// The rows of the changes that count, in their order.
    private(set) var live: [Int64]

    init(merging entries: [Entry]) {
        let sorted = entries.sorted { $0.order < $1.order }
        let removal = sorted.lastIndex { $0.writes == nil }
        let standing = sorted[(removal.map { $0 + 1 } ?? 0)...]
        let insert = standing.lastIndex { $0.writes?.isInsert ?? false }
        var live: Set<Int> = Set([removal, insert].compactMap(\.self))
        var shown: [MergedWrites.Write] = []
        var written: Set<[[UInt8]]> = []
        for index in standing.indices.reversed() {
            for write in sorted[index].writes?.writes.reversed() ?? [] {
                let key = write.path.key
                let isOverwritten = key.indices.contains { written.contains(Array(key[...$0])) }
                guard !isOverwritten else { continue }
                written.insert(key)
                live.insert(index)
                shown.append(.init(key: key, write: write))
            }
        }
        self.live = live.sorted().map { sorted[$0].number }
        guard insert != nil else {
            fields = nil
            return
        }
        fields = MergedWrites(shown).fields
    }

    /// The content as it is kept.
    var body: [UInt8]? { fields?.cbor.encoded() }

    /// This, once the change that had no row yet, but the number 0, is kept in the row `number`.
    func kept(in number: Int64) -> MergedDocument {
        var document = self
        document.live = live.map { $0 == 0 ? number : $0 }
        return document
    }
}

extension MergedDocument.Entry {
    /// What a change of one of the merged kinds says; throws `malformed` for any other.
    init(_ change: Change, number: Int64) throws(WireError) {
        self.number = number
        order = .init(stamp: change.stamp, author: change.author, hash: change.hash)
        switch change.kind {
        case .fields: writes = try FieldWrites(cbor: change.body)
        case .remove: writes = nil
        default: throw .malformed("a change that is not merged")
        }
    }
}
