import ChuteSystem
import Testing

@testable import ChuteKit

struct ChangeTests {
    private static let author = DeviceID(Digest(hashing: [1]))
    private static let seed = Digest(hashing: [2])
    private static let document = Change.ownedDocument(of: author, in: "c", seed: seed)
    private static let good: [Int: CBOR] = [
        0: .unsigned(2), 1: .bytes(author.digest.bytes), 2: .unsigned(1), 3: .unsigned(1 << 16),
        4: .text("c"), 5: .bytes(document.bytes), 6: .map([]), 7: .unsigned(1),
        8: .bytes(seed.bytes),
    ]

    @Test(arguments: [Change.Kind.owned, .fields, .remove, .fact])
    func `a change reads back as it was made`(_ kind: Change.Kind) throws {
        let isOwned = kind == .owned
        let change = Change(
            kind: kind, author: Self.author, counter: 3, stamp: Stamp(milliseconds: 7),
            collection: "c", document: Self.document, version: isOwned ? 2 : 0,
            seed: isOwned ? Self.seed : nil, body: (["a": .bool(true)] as Fields).cbor)
        #expect(try Change(bytes: change.bytes) == change)
    }

    @Test func `keys and kinds of a later version are kept as they came`() throws {
        var entries = Self.good
        entries[0] = .unsigned(77)
        entries[99] = .text("later")
        let bytes = CBOR.map(entries).encoded()
        let change = try Change(bytes: bytes)
        #expect(change.kind == nil)
        #expect(change.bytes == bytes)
        #expect(change.hash == Digest(hashing: bytes))
    }

    /// What is put in the place of which key; `nil` leaves the key out.
    static let malformed: [(Int, CBOR?)] = [
        (0, nil), (0, .text("owned")), (0, .negative(1)),
        (1, nil), (1, .bytes([1, 2, 3])), (1, .bytes(Digest(hashing: [9]).bytes)),
        (2, nil), (2, .unsigned(0)), (2, .unsigned(.max)),
        (3, nil), (3, .unsigned(.max)), (3, .unsigned(Stamp.latest.rawValue + 1)),
        (4, nil), (4, .text("")), (4, .text(String(repeating: "c", count: 256))), (4, .text("d")),
        (5, nil), (5, .bytes([])), (5, .bytes(Array(repeating: 1, count: 129))),
        (5, .bytes(Digest(hashing: [3]).bytes)),
        (6, .array([])), (6, .map([.init(key: .text(""), value: .null)])),
        (6, .map([.init(key: .unsigned(1), value: .null)])),
        (6, .map([.init(key: .text("a"), value: .unsigned(.max))])),
        (7, nil), (7, .unsigned(0)), (7, .unsigned(.max)),
        (8, nil), (8, .bytes([1])), (8, .bytes(Digest(hashing: [3]).bytes)),
    ]

    @Test(arguments: malformed.indices)
    func `what is not a change is refused`(_ index: Int) throws {
        var entries = Self.good
        _ = try Change(bytes: CBOR.map(entries).encoded())
        let (key, value) = Self.malformed[index]
        entries[key] = value
        #expect(throws: WireError.self) { _ = try Change(bytes: CBOR.map(entries).encoded()) }
    }

    @Test func `bytes that are no CBOR, or too many, are refused`() {
        let bytes = CBOR.map(Self.good).encoded()
        for bad in [[], [0xFF], Array(bytes.dropLast()), bytes + [0], [0x9B, 0, 0, 0, 0, 0x40]] {
            #expect(throws: WireError.self) { _ = try Change(bytes: bad) }
        }
        #expect(throws: WireError.self) {
            _ = try Change(bytes: [UInt8](repeating: 0x40, count: Change.sizeLimit + 1))
        }
    }

    @Test func `nobody writes the document of another device`() {
        let other = DeviceID(Digest(hashing: [8]))
        let change = Change(
            kind: .owned, author: other, counter: 1, stamp: Stamp(milliseconds: 1),
            collection: "c", document: Self.document, version: 9, seed: Self.seed, body: nil)
        #expect(throws: WireError.malformed("an owned document of somebody else")) {
            _ = try Change(bytes: change.bytes)
        }
    }

    @Test func `the greater version supersedes, of equal ones the greater hash`() {
        let changes = (1...2).map { counter in
            Change(
                kind: .owned, author: Self.author, counter: counter,
                stamp: Stamp(milliseconds: 1), collection: "c", document: Self.document,
                version: 2, seed: Self.seed, body: nil)
        }.sorted { $0.hash < $1.hash }
        let (low, high) = (changes[0], changes[1])
        func wins(_ change: Change, over number: UInt64, _ hash: Digest) -> Bool {
            change.supersedes(Change.Version(number: number, hash: hash))
        }
        #expect(wins(low, over: 1, high.hash))
        #expect(!wins(high, over: 3, low.hash))
        #expect(wins(high, over: 2, low.hash))
        #expect(!wins(low, over: 2, high.hash))
        #expect(!wins(low, over: 2, low.hash))
    }

    @Test func `a batch reads back, and no bit of it may be another`() throws {
        let key = try DeviceKey.generate()
        let hashes = (0..<UInt8(SignedBatch.limit - 1)).map { Digest(hashing: [$0]) }
        let batch = SignedBatch(signing: hashes, in: .alone, with: key)
        let read = try SignedBatch(header: batch.header, signature: batch.signature)
        #expect(read == batch)
        #expect(read.author == DeviceID(publicKey: key.spki))
        for place in [0, 1, 20, batch.header.count / 2, batch.header.count - 1] {
            var header = batch.header
            header[place] ^= 1
            #expect(throws: WireError.self) {
                _ = try SignedBatch(header: header, signature: batch.signature)
            }
        }
        for bad in [[], Array(batch.signature.dropLast()), [UInt8](repeating: 0, count: 600)] {
            #expect(throws: WireError.self) {
                _ = try SignedBatch(header: batch.header, signature: bad)
            }
        }
    }

    /// The document of it went into the database and could not be read again: neither could the
    /// collection.
    @Test func `values that are too deep to be read back out of a document are refused`() throws {
        func change(_ pathCount: Int, _ depth: Int) throws -> Change {
            let value = (0..<depth).reduce(Value.null) { value, _ in .array([value]) }
            let path = FieldPath((0..<pathCount).map { "\($0)" })
            let made = Change(
                kind: .fields, author: Self.author, counter: 1, stamp: Stamp(milliseconds: 1),
                collection: "c", document: Self.document,
                body: FieldWrites(isInsert: true, writes: [.init(path: path, value: value)]).cbor)
            return try Change(bytes: made.bytes)
        }
        for (pathCount, depth) in [(1, 23), (16, 8), (8, 16)] {
            let writes = try FieldWrites(cbor: change(pathCount, depth).body)
            let merged = MergedDocument(
                merging: [
                    .init(
                        number: 1,
                        order: .init(
                            stamp: Stamp(milliseconds: 1), author: Self.author,
                            hash: Digest(hashing: [])), writes: writes)
                ])
            let body = try #require(merged.fields).cbor.encoded()
            #expect(try Fields(cbor: CBOR.decode(body)) == merged.fields)
            #expect(throws: WireError.self) { _ = try change(pathCount, depth + 1) }
        }
        #expect(throws: WireError.self) { _ = try change(16, 24) }
    }
}
