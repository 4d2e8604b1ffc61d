/// Documents in the order of their keys, in chunks that lists share: a list with one more document
/// has most of its memory in common with the one before.
struct DocumentList: Sendable {
    /// The most documents of a chunk that is made.
    static let chunkLimit = 512

    private final class Chunk: Sendable {
        let documents: [StoredDocument]
        init(_ documents: [StoredDocument]) { self.documents = documents }
    }

    private var chunks: [Chunk] = []
    /// How many documents come before each chunk.
    private var starts: [Int] = []
    private(set) var count = 0

    init() {}

    /// Documents that have their order already.
    init(_ documents: [StoredDocument]) { append(documents) }

    private mutating func append(_ documents: [StoredDocument]) {
        for start in stride(from: 0, to: documents.count, by: Self.chunkLimit) {
            let end = min(start + Self.chunkLimit, documents.count)
            append(Chunk(Array(documents[start..<end])))
        }
    }

    private mutating func append(_ chunk: Chunk) {
        // Small ones become one, so that many removals leave no long list of chunks.
        if let last = chunks.last,
            last.documents.count + chunk.documents.count
                <= Self.chunkLimit / 2
        {
            chunks[chunks.count - 1] = Chunk(last.documents + chunk.documents)
        } else {
            starts.append(count)
            chunks.append(chunk)
        }
        count += chunk.documents.count
    }

    subscript(index: Int) -> StoredDocument {
        let chunk = starts.partitioningIndex { $0 > index } - 1
        return chunks[chunk].documents[index - starts[chunk]]
    }

    /// Calls `body` with each document in order.
    func forEach(_ body: (Int, StoredDocument) throws -> Void) rethrows {
        for (chunk, start) in zip(chunks, starts) {
            for (place, document) in chunk.documents.enumerated() {
                try body(start + place, document)
            }
        }
    }

    /// How many documents come before a key.
    func position(of key: ArraySlice<UInt8>) -> Int {
        // The chunk before the first that begins with the key, or after it.
        let next = chunks.partitioningIndex { $0.documents[0].compare(key) >= 0 }
        guard next > 0 else { return 0 }
        return starts[next - 1]
            + chunks[next - 1].documents.partitioningIndex { $0.compare(key) >= 0 }
    }

    /// Where the document with a key is.
    func index(of key: ArraySlice<UInt8>) -> Int? {
        let position = position(of: key)
        return position < count && self[position].compare(key) == 0 ? position : nil
    }

    /// This list without those at `removals`, in rising order, and with `insertions`, in the order
    /// of their keys, in their places.
    func replacing(_ removals: [Int], with insertions: [StoredDocument]) -> DocumentList {
        var list = DocumentList()
        var removals = removals[...]
        var insertions = insertions[...]
        for (place, chunk) in chunks.enumerated() {
            let start = starts[place]
            let end = start + chunk.documents.count
            let gone = removals.prefix { $0 < end }
            removals = removals.dropFirst(gone.count)
            // What comes before the next chunk is in this one.
            let new =
                place + 1 == chunks.count
                ? insertions
                : insertions.prefix { chunks[place + 1].documents[0].compare($0.key) > 0 }
            insertions = insertions.dropFirst(new.count)
            if gone.isEmpty, new.isEmpty {
                list.append(chunk)
                continue
            }
            list.append(Self.merge(chunk.documents, without: gone, from: start, with: new))
        }
        list.append(Array(insertions))
        return list
    }

    private static func merge(
        _ documents: [StoredDocument], without gone: ArraySlice<Int>, from start: Int,
        with new: ArraySlice<StoredDocument>
    ) -> [StoredDocument] {
        var merged: [StoredDocument] = []
        merged.reserveCapacity(documents.count + new.count)
        var gone = gone
        var new = new
        for (place, document) in documents.enumerated() {
            while let next = new.first, document.compare(next.key) > 0 {
                merged.append(next)
                new.removeFirst()
            }
            if gone.first == start + place { gone.removeFirst() } else { merged.append(document) }
        }
        return merged + new
    }
}
