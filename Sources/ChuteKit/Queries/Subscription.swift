import ChuteSystem

/// What a device wants of the documents of a space: everything, or those of some collections, or
/// those that meet a condition.
///
/// Members, what devices say of themselves, and receipts come in any case. As CBOR an array of
/// `[collection, condition]`.
struct Subscription: Hashable, Sendable {
    /// What is wanted of one collection.
    struct Part: Hashable, Sendable {
        let collection: String
        let predicate: Predicate
    }

    /// `nil` for everything.
    let parts: [Part]?

    static let everything = Subscription(parts: nil)
    /// The most bytes of one, encoded.
    static let sizeLimit = 32 << 10

    /// What a peer is told; `nil` for everything. Throws `invalid` for conditions that are too
    /// long to be told.
    func encoded() throws -> [UInt8]? {
        guard let parts else { return nil }
        let bytes = CBOR.array(
            try parts.map { .array([.text($0.collection), try $0.predicate.cbor()]) }
        ).encoded()
        guard bytes.count <= Self.sizeLimit else {
            throw ChuteError(.tooLarge, "what is subscribed to has over 32 KiB of conditions")
        }
        return bytes
    }

    init(parts: [Part]?) { self.parts = parts }

    /// Throws `malformed` for what this version does not know, `tooLarge` beyond the limit.
    init(encoded bytes: [UInt8]?) throws(WireError) {
        guard let bytes else {
            self = .everything
            return
        }
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge("a subscription") }
        let cbor: CBOR
        do throws(CBORError) { cbor = try CBOR.decode(bytes) } catch {
            throw .malformed("a subscription: \(error)")
        }
        guard let items = cbor.arrayValue else { throw .malformed("a subscription") }
        var parts: [Part] = []
        for item in items {
            guard let pair = item.arrayValue, pair.count == 2, let name = pair[0].textValue else {
                throw .malformed("a part of a subscription")
            }
            parts.append(Part(collection: name, predicate: try Predicate(cbor: pair[1])))
        }
        self.parts = parts
    }

    /// What is wanted of a collection; `nil` for nothing.
    func predicate(for collection: String) -> Predicate? {
        guard let parts, collection.utf8.first != UInt8(ascii: "_") else { return .all }
        let wanted = parts.filter { $0.collection == collection }.map(\.predicate)
        return wanted.dropFirst().reduce(wanted.first) { known, next in known.map { $0 || next } }
    }
}
