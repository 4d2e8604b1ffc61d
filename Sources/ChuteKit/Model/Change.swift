import ChuteSystem

/// One statement by one device about one document; the smallest thing that replicates.
///
/// Its identity is the SHA-256 of its encoding. It is signed as part of a `SignedBatch`, kept
/// and passed on as the very bytes that came: keys that this version does not know survive.
struct Change: Hashable, Sendable {
    /// How a change acts on its document.
    enum Kind: UInt64 {
        /// Sets single fields of a document that anyone may write: last write by stamp wins.
        case fields = 0
        /// Ends every field stamped up to it.
        case remove = 1
        /// Replaces the whole of a document that only its author may write: the greatest version
        /// counter wins, then the greater hash.
        case owned = 2
        /// A fact about members, never merged.
        case fact = 3
    }

    /// `nil` for a kind from a later version: kept, relayed, not applied.
    let kind: Kind?
    let author: DeviceID
    /// The author's own count of changes; serves only the cut-off of a removal.
    let counter: UInt64
    let stamp: Stamp
    let collection: String
    let document: DocumentID
    /// For `owned`: the version counter of the author. Zero otherwise.
    let version: UInt64
    /// For `owned`: what, with author and collection, hashes to the document's id.
    let seed: Digest?
    /// The content by kind; `nil` for an owned document that its author took back.
    let body: CBOR?
    let bytes: [UInt8]
    let hash: Digest

    /// The most bytes of one change: a document of 5 MB and what describes it.
    static let sizeLimit = 5 << 20

    private enum Key {
        static let kind = 0, author = 1, counter = 2, stamp = 3, collection = 4, document = 5
        static let body = 6, version = 7, seed = 8
    }

    init(
        kind: Kind, author: DeviceID, counter: UInt64, stamp: Stamp, collection: String,
        document: DocumentID, version: UInt64 = 0, seed: Digest? = nil, body: CBOR?
    ) {
        self.kind = kind
        self.author = author
        self.counter = counter
        self.stamp = stamp
        self.collection = collection
        self.document = document
        self.version = version
        self.seed = seed
        self.body = body
        var entries: [CBOR.Entry] = []
        entries.reserveCapacity(9)
        func add(_ key: Int, _ value: CBOR) { entries.append(.init(key: .int(key), value: value)) }
        add(Key.kind, .unsigned(kind.rawValue))
        add(Key.author, .bytes(author.digest.bytes))
        add(Key.counter, .unsigned(counter))
        add(Key.stamp, .unsigned(stamp.rawValue))
        add(Key.collection, .text(collection))
        add(Key.document, .bytes(document.bytes))
        if let body { add(Key.body, body) }
        if version > 0 { add(Key.version, .unsigned(version)) }
        if let seed { add(Key.seed, .bytes(seed.bytes)) }
        bytes = CBOR.map(entries).encoded()
        hash = Digest(hashing: bytes)
    }

    /// Reads and checks a change from a peer or from the database.
    init(bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge("a change over 5 MB") }
        let cbor: CBOR
        do throws(CBORError) { cbor = try CBOR.decode(bytes) } catch {
            throw .malformed("a change: \(error)")
        }
        guard let rawKind = cbor[Key.kind]?.uint,
            let author = cbor[Key.author]?.bytesValue.flatMap(DeviceID.init(bytes:)),
            let counter = cbor[Key.counter]?.uint, counter > 0, counter <= UInt64(Int64.max),
            let stamp = cbor[Key.stamp]?.uint.map(Stamp.init(rawValue:)),
            let collection = cbor[Key.collection]?.textValue,
            (1...255).contains(collection.utf8.count),
            let document = cbor[Key.document]?.bytesValue.flatMap(DocumentID.init(bytes:))
        else { throw .malformed("a change without its parts") }
        guard stamp.isValid else { throw .malformed("a stamp past the year 9999") }
        kind = Kind(rawValue: rawKind)
        self.author = author
        self.counter = counter
        self.stamp = stamp
        self.collection = collection
        self.document = document
        version = cbor[Key.version]?.uint ?? 0
        seed = cbor[Key.seed]?.bytesValue.flatMap(Digest.init(bytes:))
        body = cbor[Key.body]
        self.bytes = bytes
        hash = Digest(hashing: bytes)
        try checkOwnership()
        try checkMerging()
    }

    /// Whether it is merged with others about its document.
    var isMerged: Bool { kind == .fields || kind == .remove }

    private func checkMerging() throws(WireError) {
        guard isMerged else { return }
        guard collection.utf8.first != UInt8(ascii: "_") else {
            throw .malformed("a document that anybody may write, in a collection of the engine")
        }
        if kind == .fields { _ = try FieldWrites(cbor: body) }
    }

    /// An owned document's id says who may write it: nobody can speak for another's.
    private func checkOwnership() throws(WireError) {
        guard kind == .owned else { return }
        guard let seed, version > 0, version <= UInt64(Int64.max) else {
            throw .malformed("an owned change without version or seed")
        }
        guard document == Self.ownedDocument(of: author, in: collection, seed: seed) else {
            throw .malformed("an owned document of somebody else")
        }
        if let body, collection != Receipt.replicatedCollection { _ = try Fields(cbor: body) }
    }

    /// The id of the document that `owner` alone may write: owner, collection and seed, hashed.
    static func ownedDocument(
        of owner: DeviceID, in collection: String, seed: Digest
    ) -> DocumentID {
        DocumentID(
            Digest(
                hashing: CBOR.array([
                    .text("chute document 1"), .bytes(owner.digest.bytes), .text(collection),
                    .bytes(seed.bytes),
                ]).encoded()))
    }

    /// One version of an owned document: its number, and the hash of the change that made it.
    struct Version: Hashable, Sendable {
        let number: UInt64
        let hash: Digest
    }

    /// Whether this takes the place of another version of the same document: the greater number
    /// does, of equal ones the greater hash.
    func supersedes(_ other: Version?) -> Bool {
        guard let other else { return true }
        return (version, hash) > (other.number, other.hash)
    }
}
