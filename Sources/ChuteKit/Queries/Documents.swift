import ChuteSystem

/// Documents in an order, decoded one by one when they are looked at.
///
/// A value that never changes: the next result of an observer is another one, which shares with
/// this one what is the same in both.
public struct Documents: RandomAccessCollection, Sendable {
    let list: DocumentList
    private let collection: String

    init(_ list: DocumentList, of collection: String) {
        self.list = list
        self.collection = collection
    }

    /// None.
    init() { self.init(DocumentList(), of: "") }

    /// 0.
    public var startIndex: Int { 0 }
    /// How many there are.
    public var endIndex: Int { list.count }

    /// The document at a place, decoded anew each time.
    public subscript(index: Int) -> Document {
        let stored = list[index]
        do {
            return Document(
                id: stored.id, collection: collection,
                origin: DeviceID(bytes: stored.originBytes),
                fields: try Fields(cbor: CBOR.decode(stored.body, limits: .document)))
        } catch {
            // It was decoded once when it was found: what is read here is the same bytes.
            preconditionFailure("a document cannot be decoded a second time: \(error)")
        }
    }

    /// The id of the document at a place, without decoding it.
    public func id(at index: Int) -> DocumentID { list[index].id }
}
