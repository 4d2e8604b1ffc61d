import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Documents that anybody may write, in stores.
@Suite(.timeLimit(.minutes(2)))
struct MergingTests {
    private static let people = SharedStore.collection

    private func code(_ body: () async throws -> Void) async -> ChuteError.Code? {
        do { try await body() } catch { return (error as? ChuteError)?.code }
        return nil
    }

    @Test func `a document is made, updated field by field, and removed`() async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0]
            let id = try await store.write {
                try $0.insert(["name": "Ada", "age": 36], in: Self.people)
            }
            #expect(id.string?.utf8.count == 26)
            try await store.write { transaction in
                try transaction.update(id, in: Self.people) { document in
                    document["age"].set(37)
                    document["address"]["city"].set("London")
                    document["name"].remove()
                    #expect(document["address"]["city"].current.string == "London")
                }
            }
            #expect(
                try await store.find(id)?.fields == ["age": 37, "address": ["city": "London"]])
            #expect(try await store.write { try $0.remove(id, in: Self.people) })
            #expect(try await store.find(id) == nil)
            #expect(try await !store.write { try $0.remove(id, in: Self.people) })
        }
    }

    @Test func `ids that are made sort by when they were made`() async throws {
        try await withSharedStores(1) { stores in
            let ids = try await stores[0].write { transaction in
                try (0..<1000).map {
                    try transaction.insert(["n": .integer($0)], in: Self.people)
                }
            }
            #expect(ids == ids.sorted() && Set(ids).count == 1000)
        }
    }

    @Test func `inserting an id that there is says so, upserting writes its fields`()
        async throws
    {
        try await withSharedStores(1) { stores in
            let store = stores[0]
            let id = try await store.write {
                try $0.insert(["_id": "ada", "a": 1, "b": 1], in: Self.people)
            }
            #expect(id.string == "ada")
            let code = await code {
                _ = try await store.write {
                    try $0.insert(["_id": "ada"], in: Self.people)
                }
            }
            #expect(code == .alreadyExists)
            try await store.write {
                _ = try $0.upsert(["_id": "ada", "a": 2], in: Self.people)
            }
            #expect(try await store.find(id)?.fields == ["a": 2, "b": 1])
            try await store.write { _ = try $0.remove(id, in: Self.people) }
            try await store.write { _ = try $0.insert(["_id": "ada", "c": 3], in: Self.people) }
            #expect(try await store.find(id)?.fields == ["c": 3])
        }
    }

    @Test func `two devices that write different fields at once both keep what they wrote`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let id = try await one.write { try $0.insert(["a": 1, "b": 1], in: Self.people) }
            try await two.pull(from: one)
            try await one.write { try $0.update(id, in: Self.people) { $0["a"].set(2) } }
            try await two.write { try $0.update(id, in: Self.people) { $0["b"].set(3) } }
            try await one.pull(from: two)
            try await two.pull(from: one)
            #expect(try await one.find(id)?.fields == ["a": 2, "b": 3])
            #expect(try await two.find(id)?.fields == ["a": 2, "b": 3])
        }
    }

    @Test func `a document that was put away comes back whole with the next change of it`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let id = try await one.write { try $0.insert(["a": 1, "b": 1], in: Self.people) }
            try await two.pull(from: one)
            #expect(try await two.write { try $0.evict(id, in: Self.people) })
            #expect(try await two.find(id) == nil)
            #expect(try await two.pull(from: one) == 0)
            #expect(try await two.find(id) == nil)
            try await one.pull(from: two)
            #expect(try await one.find(id) != nil)
            try await one.write { try $0.update(id, in: Self.people) { $0["b"].set(2) } }
            try await two.pull(from: one)
            #expect(try await two.find(id)?.fields == ["a": 1, "b": 2])
        }
    }

    /// What a member that is not this library may write of a document.
    private func hostile(
        _ id: DocumentID, by store: SharedStore, _ writes: [FieldWrites.Write]
    ) async throws {
        try await store.write { transaction in
            let change = transaction.nextChange(
                .fields, in: Self.people, document: id,
                body: FieldWrites(isInsert: true, writes: writes).cbor)
            try transaction.insertOwn(change)
        }
    }

    @Test func `a member that writes as deep as can be sent spoils no collection`() async throws {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let id = try #require(DocumentID("deep"))
            var value: Value = 1
            for _ in 0..<27 { value = [value] }
            let path = FieldPath((0..<16).map { "\($0)" })
            try await hostile(id, by: one, [.init(path: path, value: value)])
            await #expect(throws: WireError.self) { try await two.pull(from: one) }
            try await two.write { _ = try $0.insert(["a": 1], in: Self.people) }
            #expect(try await two.find(id) == nil)
            #expect(try await two.store[Self.people].findAll().exec().count == 1)
        }
    }

    @Test func `what cannot count after a write at the end of time is an error, not a success`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let sorted = stores.sorted { $0.device < $1.device }
            let (less, greater) = (sorted[0], sorted[1])
            let id = try #require(DocumentID("last"))
            try await greater.write { transaction in
                let change = Change(
                    kind: .fields, author: greater.device, counter: 1 << 20, stamp: .latest,
                    collection: Self.people, document: id,
                    body: FieldWrites(inserting: ["a": 1]).cbor)
                try transaction.insertOwn(change)
            }
            try await less.pull(from: greater)
            let updating = await code {
                try await less.write { try $0.update(id, in: Self.people) { $0["a"].set(2) } }
            }
            let removing = await code {
                try await less.write { _ = try $0.remove(id, in: Self.people) }
            }
            #expect(updating == .notAllowed && removing == .notAllowed)
            #expect(try await less.find(id)?.fields == ["a": 1])
            #expect(try await less.write { try $0.evict(id, in: Self.people) })
        }
    }

    @Test func `a document that several writers made of more values than one may write is read`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let many = Value.array([Value](repeating: 1, count: 600_000))
            let id = try await one.write { try $0.insert(["a": many], in: Self.people) }
            try await two.pull(from: one)
            try await two.write { try $0.update(id, in: Self.people) { $0["b"].set(many) } }
            try await one.pull(from: two)
            #expect(try await one.find(id)?["b"].array?.count == 600_000)
            #expect(try await one.store[Self.people].findAll().ids() == [id])
        }
    }

    @Test func `what has more values than anybody takes is refused before it is written`()
        async throws
    {
        try await withSharedStores(1) { stores in
            let store = stores[0]
            let many = Value.array([Value](repeating: 1, count: 1_100_000))
            let id = try await store.write { try $0.insert(["a": 1], in: Self.people) }
            let inserting = await code {
                try await store.write { _ = try $0.insert(["a": many], in: Self.people) }
            }
            let updating = await code {
                try await store.write { try $0.update(id, in: Self.people) { $0["a"].set(many) } }
            }
            #expect(inserting == .tooLarge && updating == .tooLarge)
            #expect(try await store.find(id)?.fields == ["a": 1])
            #expect(try await store.store[Self.people].findAll().exec().count == 1)
        }
    }

    /// Random writes on three devices that hear of each other in random order.
    @Test(arguments: 0..<12)
    func `devices that heard everything have the same documents`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withSharedStores(3) { stores in
            for store in stores {
                for other in stores { try await store.pull(from: other) }
            }
            for _ in 0..<40 {
                let store = stores.randomElement(using: &random) ?? stores[0]
                let name = ["x", "y"].randomElement(using: &random) ?? "x"
                let field = ["a", "b"].randomElement(using: &random) ?? "a"
                let number = Value.integer(.random(in: 0...99, using: &random))
                let kind = Int.random(in: 0..<6, using: &random)
                guard let id = DocumentID(name) else { return }
                if kind == 5 {
                    let other = stores.randomElement(using: &random) ?? stores[0]
                    try await store.pull(from: other)
                    continue
                }
                try await store.write { transaction in
                    let isThere = try transaction.find(id, in: Self.people) != nil
                    switch kind {
                    case 0: _ = try transaction.remove(id, in: Self.people)
                    case 1: _ = try transaction.upsert([field: number], as: id, in: Self.people)
                    case _ where isThere:
                        try transaction.update(id, in: Self.people) { document in
                            kind == 2
                                ? document[field]["n"].set(number) : document[field].set(number)
                        }
                    default: break
                    }
                }
            }
            for _ in 0..<2 {
                for store in stores {
                    for other in stores { try await store.pull(from: other) }
                }
            }
            let found = try await stores[0].all()
            #expect(try await stores[1].all() == found)
            #expect(try await stores[2].all() == found)
        }
    }

    @Test func `nobody writes into a document that one device alone may write`() async throws {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let seed = Digest(hashing: [1])
            let own = try await one.write {
                try $0.put(seed: seed, in: Self.people, fields: ["a": 1])
            }
            // Two claims the id before it knows of the document.
            try await two.write { _ = try $0.insert(["a": 2], as: own.id, in: Self.people) }
            try await one.pull(from: two)
            #expect(try await one.find(own.id)?.fields == ["a": 1])
            try await two.pull(from: one)
            #expect(try await two.find(own.id)?.fields == ["a": 1])
            #expect(try await two.find(own.id)?.origin == one.device)
            let code = await code {
                try await two.write {
                    try $0.update(own.id, in: Self.people) { $0["a"].set(3) }
                }
            }
            #expect(code == .notAllowed)
        }
    }

    @Test func `a store of the first version keeps its documents, receipts and changes`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("chute.db")
            let key = try DeviceKey.generate()
            let device = DeviceID(publicKey: key.spki)
            let seed = Digest(hashing: [1])
            let fields: Fields = ["a": 1]
            let change = Change(
                kind: .owned, author: device, counter: 1, stamp: Stamp(milliseconds: 1),
                collection: Self.people,
                document: Change.ownedDocument(of: device, in: Self.people, seed: seed),
                version: 1, seed: seed, body: fields.cbor)
            do {
                let database = try Connection(path: path)
                try Schema.migrate(database, to: 1)
                try database.prepare(
                    """
                    INSERT INTO changes (n, tag, hash, kind, author, counter, state, body)
                    VALUES (7, x'00', ?, 2, ?, 1, 0, ?)
                    """
                ).run(change.hash.bytes, device.digest.bytes, change.bytes)
                try database.prepare("INSERT INTO documents VALUES (?, ?, ?, 1, ?, 7, 0, ?, ?)")
                    .run(
                        Self.people, change.document.bytes, device.digest.bytes,
                        change.hash.bytes, seed.bytes, fields.cbor.encoded())
            }
            let store = try StoreWriter(path: path, key: key, sharedKey: nil)
            let kept = try await store.write { try $0.document(change.document, in: Self.people) }
            #expect(kept?.version == 1 && kept?.fields == fields && kept?.learned == 7)
            let next = try await store.write {
                try $0.put(seed: seed, in: Self.people, fields: ["a": 2])
            }
            #expect(next.version == 2)
            let left = try await store.write {
                try $0.database.prepare("SELECT hash FROM changes WHERE n = 7")
                    .first { $0.optionalBytes(0) } ?? nil
            }
            #expect(left == nil, "the first version's change was not superseded")
        }
    }

    @Test func `what was refused as too large is not there, even where the error is caught`()
        async throws
    {
        try await withSharedStores(1) { stores in
            let store = stores[0]
            let large = Value.bytes([UInt8](repeating: 1, count: 3_000_000))
            let id = try await store.write { try $0.insert(["a": large], in: Self.people) }
            let codes = try await store.write { transaction in
                var codes: [ChuteError.Code] = []
                do {
                    try transaction.update(id, in: Self.people) { $0["b"].set(large) }
                } catch let error as ChuteError { codes.append(error.code) }
                do {
                    let larger = Value.bytes([UInt8](repeating: 1, count: 5_000_001))
                    _ = try transaction.insert(["c": larger], in: Self.people)
                } catch let error as ChuteError { codes.append(error.code) }
                return codes
            }
            #expect(codes == [.tooLarge, .tooLarge])
            #expect(try await store.all().map(\.value) == [["a": large]])
        }
    }

    /// Each field took a walk over all before it: hours, in which nobody else could write.
    @Test func `a document of very many fields is taken in from a peer like any other`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            for store in stores {
                for other in stores { try await store.pull(from: other) }
            }
            let many = Fields(
                distinct: (0..<100_000).map { .init(name: "\($0)", value: .bool(true)) })
            let id = try await one.write {
                try $0.insert(["flat": true, "deep": .map(many)], in: Self.people)
            }
            try await one.write { try $0.update(id, in: Self.people) { $0["a"].set(1) } }
            let flat = try await one.write { try $0.insert(many, in: Self.people) }
            try await one.write { transaction in
                try transaction.update(id, in: Self.people) { document in
                    for number in 0..<20_000 { document["deep"]["n\(number)"].set(1) }
                }
            }
            try await two.pull(from: one)
            #expect(try await two.find(flat)?.fields == many)
            #expect(try await two.find(id)?["deep"].map?.all.count == 120_000)
        }
    }
}
