import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

@Suite struct QueryTests {
    static let people = SharedStore.collection

    @Test func `a query finds, sorts, limits and counts`() async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            try await store.write { transaction in
                for (name, age) in [("Ada", 36), ("Bob", 17), ("Cy", 70), ("Al", 36)] {
                    try transaction.insert(
                        ["name": .string(name), "age": .integer(Int64(age))],
                        as: DocumentID(name), in: Self.people)
                }
                try transaction.insert(["name": "none"], in: "others")
            }
            let people = store[Self.people]
            let grown = people.find(field("age") >= 18).sort(by: "age", .descending)
            #expect(try await grown.ids().map(\.description) == ["Cy", "Ada", "Al"])
            #expect(try await grown.limit(1).offset(1).exec().map(\.id.description) == ["Ada"])
            #expect(try await grown.where(field("name").hasPrefix("A")).count() == 2)
            #expect(try await grown.offset(2).count() == 1)
            #expect(try await grown.first()?["name"].string == "Cy")
            #expect(try await people.findAll().count() == 4)
            #expect(try await people.findAll().limit(0).first() == nil)
            #expect(try await store["empty"].findAll().exec() == [])
        }
    }

    @Test func `a transaction finds what it has written itself`() async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            let query = store[Self.people].find(field("a") == 1)
            try await store[Self.people].declareIndex(on: "a")
            let counts = try await store.write { transaction in
                let id = try transaction.insert(["a": 1], in: Self.people)
                let before = try transaction.count(query)
                try transaction.update(id, in: Self.people) { $0["a"].set(2) }
                return [before, try transaction.exec(query).count]
            }
            #expect(counts == [1, 0])
        }
    }

    @Test func `a query that cannot be is refused`() async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            await #expect(throws: ChuteError.self) { try await store["_own"].findAll().exec() }
            await #expect(throws: ChuteError.self) { try await store[""].findAll().count() }
            await #expect(throws: ChuteError.self) {
                try await store["a"].declareIndex(on: FieldPath([]))
            }
        }
    }

    @Test(arguments: 0..<10)
    func `any query finds what a plain look finds, with any indexes`(seed: UInt64) async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            var source = RandomDocuments(seed: seed)
            var model: [DocumentID: Fields] = [:]
            func change() async throws {
                for _ in 0..<30 {
                    let id = source.id()
                    let fields = source.fields()
                    let kind = source.number(0...5)
                    try await store.write { transaction in
                        switch kind {
                        case 0: _ = try transaction.remove(id, in: Self.people)
                        case 1: _ = try transaction.evict(id, in: Self.people)
                        default:
                            _ = try transaction.remove(id, in: Self.people)
                            _ = try transaction.insert(fields, as: id, in: Self.people)
                        }
                    }
                    model[id] = kind < 2 ? nil : fields
                }
            }
            func compare() async throws {
                for _ in 0..<60 {
                    let query = source.query(store, Self.people)
                    let expected = NaiveQuery(query: query).run(model)
                    let found = try await query.exec()
                    let plan = try await store.read { try $0.plan(query) }
                    #expect(found.map(\.id) == expected, "\(query) by \(plan)")
                    #expect(found.allSatisfy { model[$0.id]?.cbor == $0.fields.cbor })
                    #expect(try await query.count() == expected.count)
                }
            }
            try await change()
            try await compare()
            for path in RandomDocuments.paths {
                try await store[Self.people].declareIndex(on: path)
                try await change()
                try await stores[0].indexed()
                try await compare()
            }
            #expect(try await store.read { try Self.entries($0) } == model.count * 3)
            try await store[Self.people].dropIndex(on: "a")
            try await change()
            try await compare()
        }
    }

    static func entries(_ snapshot: Snapshot) throws -> Int {
        try snapshot.database.prepare("SELECT count(*) FROM field_index").first { $0.int(0) } ?? 0
    }

    @Test func `documents that were there are taken in step by step, further after a restart`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let key = try DeviceKey.generate()
            let path = folder.appending("chute.db")
            do {
                let writer = try StoreWriter(path: path, key: key, sharedKey: nil)
                try await writer.write { transaction in
                    for number in 0..<5000 {
                        try transaction.insert(["n": .integer(Int64(number % 7))], in: Self.people)
                    }
                    try transaction.declareIndex(on: "n", in: Self.people)
                    #expect(try transaction.continueIndexing())
                    #expect(try Self.entries(transaction) == 2000)
                    let plan = try transaction.plan(
                        Query(
                            store: Store(
                                writer: writer,
                                reader: StoreReader(path: path, device: writer.device)),
                            collection: Self.people, predicate: field("n") == 3))
                    #expect(plan.source == .scan(.everything), "half an index was used")
                }
            }
            let writer = try StoreWriter(path: path, key: key, sharedKey: nil)
            await writer.startIndexing()
            let reader = try StoreReader(path: path, device: writer.device)
            let store = Store(writer: writer, reader: reader)
            try await eventually {
                try await store[Self.people].indexes().allSatisfy(\.isComplete)
            }
            #expect(try await store.read { try Self.entries($0) } == 5000)
            #expect(try await store[Self.people].find(field("n") == 3).count() == 714)
            #expect(try await store[Self.people].dropIndex(on: "n"))
            try await eventually { try await store.read { try Self.entries($0) } == 0 }
            #expect(try await store[Self.people].indexes() == [])
        }
    }

    @Test func `a plan takes the index that tells most`() async throws {
        try await withSharedStores(1) { stores in
            let people = stores[0].store[Self.people]
            let age = FieldIndex(number: 1, path: "age")
            let name = FieldIndex(number: 2, path: "name")
            func plan(_ query: Query) -> QueryPlan { QueryPlan(query, indexes: [age, name]) }
            func index(_ plan: QueryPlan) -> Int64? {
                if case .index(let number, _, _) = plan.source { number } else { nil }
            }
            #expect(index(plan(people.find(field("age") >= 18 && field("name") == "A"))) == 2)
            let page = people.find(field("age") >= 18).sort(by: "age", .descending).limit(50)
            #expect(index(plan(page)) == 1 && plan(page).order == .byIndex)
            #expect(index(plan(people.findAll().sort(by: "name").limit(5))) == 2)
            #expect(index(plan(people.findAll().sort(by: "name"))) == nil)
            #expect(index(plan(people.find(!(field("age") == 1)))) == nil)
            #expect(index(plan(people.find(field("age") == 1 || field("name") == "A"))) == nil)
            let id = DocumentID(text: [1])
            #expect(plan(people.find(field("age") == 1 && .id(id))).source == .ids([[1]]))
        }
    }
}

extension SharedStore {
    /// Waits until all declared indexes know all documents.
    func indexed() async throws {
        try await eventually("the indexes are complete") {
            try await store[Self.collection].indexes().allSatisfy(\.isComplete)
        }
    }
}
