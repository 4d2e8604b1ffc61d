import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// The difference between two results, without a store that changes.
@Suite struct LiveResultTests {
    @Test(arguments: 0..<12)
    func `a difference makes one list out of the other, whatever changed`(seed: UInt64) async throws
    {
        try await withSharedStores(1) { stores in
            var source = RandomDocuments(seed: seed)
            for _ in 0..<20 {
                var query = source.query(stores[0].store, "people")
                if source.number(0...2) > 0 { query = query.whole }
                var model: [DocumentID: Fields] = [:]
                var result = LiveResult(query: query, list: DocumentList())
                for _ in 0..<20 {
                    let changes = source.change(&model)
                    let expected = LiveResult(naive: query, model)
                    let difference: ListDifference
                    switch try result.applying(changes) {
                    case .same:
                        #expect(result.bodies == expected.bodies)
                        continue
                    case .next(let next, let given):
                        #expect(query.isWhole)
                        #expect(next.bodies == expected.bodies)
                        let general = ListDifference(from: result.list, to: next.list)
                        #expect(given.insertions == general.insertions)
                        #expect(given.deletions == general.deletions)
                        #expect(given.updates == general.updates)
                        #expect(given.moves.count >= general.moves.count)
                        #expect(!given.isEmpty)
                        difference = given
                        try result.expect(given, leadsTo: next)
                    case .unknown:
                        #expect(!query.isWhole, "a change of a document that was not known")
                        difference = ListDifference(from: result.list, to: expected.list)
                    }
                    try result.expect(difference, leadsTo: expected)
                    result = expected
                }
            }
        }
    }

    @Test func `a document that keeps its place among the others has not moved`() async throws {
        try await withSharedStores(1) { stores in
            let query = stores[0].store["people"].findAll().sort(by: "n")
            var model: [DocumentID: Fields] = [:]
            for number in 0..<5 {
                model[DocumentID(text: [UInt8(number)])] = ["n": .integer(Int64(number * 10))]
            }
            let result = LiveResult(naive: query, model)
            func step(_ fields: [UInt8: Fields]) throws -> ListDifference? {
                let changes = fields.map { id, fields in
                    let id = DocumentID(text: [id])
                    return DocumentChange(
                        id: id, origin: nil, old: model[id]?.cbor.encoded(),
                        new: fields.cbor.encoded())
                }
                guard case .next(_, let difference) = try result.applying(changes) else {
                    return nil
                }
                return difference
            }
            let near = try step([2: ["n": 22]])
            #expect(near?.moves == [] && near?.updates == [2])
            let far = try step([2: ["n": 99]])
            #expect(far?.moves == [.init(from: 2, to: 4)] && far?.updates == [4])
            let swapped = try step([1: ["n": 21], 2: ["n": 11]])
            #expect(swapped?.moves.count == 1 && swapped?.updates == [1, 2])
            #expect(try step([2: ["n": 20]]) == nil, "nothing changed")
        }
    }

    @Test func `a long list shares its memory with the next and is right at every border`() throws {
        var random = SeededGenerator(seed: 7)
        func document(_ number: Int) -> StoredDocument {
            let id = DocumentID(text: Array("\(1_000_000 + number)".utf8))
            return StoredDocument(key: id.bytes, id: id, origin: nil, body: [UInt8(number & 0xFF)])
        }
        var numbers = Array(stride(from: 0, to: 8000, by: 2))
        var list = DocumentList(numbers.map(document))
        for round in 0..<60 {
            let count =
                round % 3 == 0 ? numbers.count * 9 / 10 : Int.random(in: 0...40, using: &random)
            let gone = Set(
                numbers.indices.shuffled(using: &random).prefix(round == 30 ? .max : count))
            let left = numbers.indices.filter { !gone.contains($0) }.map { numbers[$0] }
            let known = Set(left)
            let new = Set(
                (0..<(round % 3 == 1 ? 3000 : 20)).map { _ in
                    Int.random(in: 0...9000, using: &random)
                }
            )
            .subtracting(known).sorted()
            list = list.replacing(gone.sorted(), with: new.map(document))
            numbers = (left + new).sorted()
            try #require(list.count == numbers.count)
            var found: [ArraySlice<UInt8>] = []
            list.forEach { index, document in
                #expect(found.count == index)
                found.append(document.key)
            }
            #expect(found == numbers.map { document($0).key })
            for index in numbers.indices.shuffled(using: &random).prefix(50) {
                #expect(list[index].key == document(numbers[index]).key)
                #expect(list.index(of: document(numbers[index]).key) == index)
                #expect(list.position(of: document(numbers[index] + 1).key) == index + 1)
            }
        }
    }
}

extension Query {
    fileprivate var whole: Query {
        sorting.reduce(Query(store: store, collection: collection, predicate: predicate)) {
            $0.sort(by: $1.path, $1.direction)
        }
    }
}

extension RandomDocuments {
    /// Changes some documents, as one commit does.
    mutating func change(_ model: inout [DocumentID: Fields]) -> [DocumentChange] {
        var changes: [DocumentID: DocumentChange] = [:]
        for _ in 0..<pick([1, 1, 2, 5, 20]) {
            let id = id()
            if changes[id] != nil { continue }
            let old = model[id]
            model[id] = number(0...3) == 0 ? nil : number(0...5) == 0 ? old : fields()
            changes[id] = DocumentChange(
                id: id, origin: nil, old: old?.cbor.encoded(), new: model[id]?.cbor.encoded())
        }
        return Array(changes.values)
    }
}

extension LiveResult {
    /// What a plain look finds.
    init(naive query: Query, _ model: [DocumentID: Fields]) {
        let stored = NaiveQuery(query: query).run(model).map { id in
            let fields = model[id] ?? [:]
            return StoredDocument(
                key: query.key(of: fields, id: id), id: id, origin: nil, body: fields.cbor.encoded()
            )
        }
        self.init(query: query, list: DocumentList(stored))
    }

    var bodies: [[UInt8]] { documents.indices.map { Array(list[$0].idBytes + list[$0].body) } }

    /// Does what a difference says, by its definition.
    func expect(_ difference: ListDifference, leadsTo next: LiveResult) throws {
        let gone = Set(difference.deletions + difference.moves.map(\.from))
        try #require(gone.count == difference.deletions.count + difference.moves.count)
        var lines = bodies.indices.filter { !gone.contains($0) }.map { bodies[$0] }
        let new = next.bodies
        for index in (difference.insertions + difference.moves.map(\.to)).sorted() {
            try #require(index <= lines.count)
            lines.insert(new[index], at: index)
        }
        // What is there already, and changed, is what `updates` tells.
        let ids = lines.map { Array($0.prefix(3)) }
        #expect(ids == new.map { Array($0.prefix(3)) })
        let stale = lines.indices.filter { lines[$0] != new[$0] }
        #expect(Set(stale).isSubset(of: difference.updates))
        for move in difference.moves {
            #expect(bodies[move.from].prefix(3) == new[move.to].prefix(3))
        }
    }
}
