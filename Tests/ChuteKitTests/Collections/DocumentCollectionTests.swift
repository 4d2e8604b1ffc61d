import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(2)))
struct DocumentCollectionTests {
    private func withPeople(
        _ body: (DocumentCollection) async throws -> Void
    ) async throws {
        try await withSharedStores(1) { stores in try await body(stores[0].store["people"]) }
    }

    private func code(_ body: () async throws -> Void) async -> ChuteError.Code? {
        do { try await body() } catch { return (error as? ChuteError)?.code }
        return nil
    }

    @Test func `a document has typed places, there or not`() async throws {
        try await withPeople { people in
            let id = try await people.insert([
                "name": "Ada", "age": 36, "height": 1.5, "tags": ["a", "b"],
                "address": ["city": "London"], "none": .null,
            ])
            let ada = try #require(try await people.findByID(id).exec())
            #expect(ada.id == id && ada.collection == "people" && ada.origin == nil)
            #expect(ada["name"].string == "Ada" && ada["name"].integer == nil)
            #expect(ada["age"].integer == 36 && ada["age"].double == 36)
            #expect(ada["height"].double == 1.5)
            #expect(ada["tags"][1].string == "b" && ada["tags"][2].value == nil)
            #expect(ada["tags"][-1].value == nil)
            #expect(ada["address"]["city"].string == "London")
            #expect(ada[["address", "city"]].string == "London")
            #expect(ada["none"].exists && !ada["gone"].exists)
            #expect(ada["gone"]["deeper"].attachmentToken == nil)
            #expect(ada.mimeType == "image/jpeg")
        }
    }

    @Test func `a document is a record of its attachment, with one or without`() async throws {
        try await withPeople { people in
            let token = AttachmentToken(id: .test(byteCount: 3))
            let full = try await people.insert([
                "image": .attachment(token), "mimeType": "image/png",
            ])
            let empty = try await people.insert(["image": "no token"])
            let one = try #require(try await people.findByID(full).exec())
            let other = try #require(try await people.findByID(empty).exec())
            #expect(AttachmentRecord(one).token == token)
            #expect(AttachmentRecord(one).mimeType == "image/png")
            #expect(AttachmentRecord(other).token == nil)
            #expect(AttachmentRecord(other).mimeType == "image/jpeg")
            #expect(AttachmentRecord(other).id == empty)
        }
    }

    static let badNames = ["", "_devices", "_", String(repeating: "x", count: 256)]

    @Test(arguments: badNames)
    func `a collection that no application may use says so, and nothing is written`(
        _ name: String
    ) async throws {
        try await withSharedStores(1) { stores in
            let collection = stores[0].store[name]
            let id = try #require(DocumentID("a"))
            #expect(await code { try await collection.insert(["a": 1]) } == .invalid)
            #expect(await code { try await collection.upsert(["a": 1], as: id) } == .invalid)
            #expect(await code { _ = try await collection.findByID(id).exec() } == .invalid)
            #expect(await code { try await collection.findByID(id).remove() } == .invalid)
            #expect(await code { try await collection.findByID(id).evict() } == .invalid)
            #expect(await code { try await collection.findByID(id).update { _ in } } == .invalid)
            let direct = await code {
                _ = try await stores[0].write { try $0.insert(["a": 1], in: name) }
            }
            #expect(direct == .invalid)
        }
    }

    static let badFields: [(Fields, ChuteError.Code)] = [
        (["_mine": 1], .invalid), (["": 1], .invalid), (["a": ["": 1]], .invalid),
        (["_id": 5], .invalid), (["_id": ""], .invalid),
        (["_id": .string(String(repeating: "x", count: 129))], .invalid),
        (["deep": (0..<40).reduce(.null) { value, _ in .array([value]) }], .invalid),
        (["large": .bytes([UInt8](repeating: 7, count: 5_000_001))], .tooLarge),
        (
            [
                "a": .attachment(
                    AttachmentToken(
                        id: AttachmentID.test(byteCount: 0)))
            ], .invalid
        ),
        (
            [
                "a": .attachment(
                    AttachmentToken(
                        id: AttachmentID.test(byteCount: 1),
                        metadata: ["x": String(repeating: "y", count: 70_000)]))
            ], .invalid
        ),
    ]

    @Test(arguments: badFields)
    func `fields that are no document are refused, and a good one next is taken`(
        _ fields: Fields, _ expected: ChuteError.Code
    ) async throws {
        try await withSharedStores(1) { stores in
            let people = stores[0].store["people"]
            let inserting = await code { try await people.insert(fields) }
            #expect(inserting == expected)
            try await people.upsert(["_id": "b", "b": 1])
            let upserting = await code {
                var given = fields
                given["_id"] = fields["_id"] ?? "b"
                try await people.upsert(given)
            }
            #expect(upserting == expected)
            #expect(try await people.findByID("b").exec()?.fields == ["b": 1])
        }
    }

    @Test func `a large document is said to be large`() async throws {
        try await withTemporaryDirectory { folder in
            let lines = TestEngine.LogLines()
            let writer = try StoreWriter(
                path: folder.appending("chute.db"), key: .generate(), sharedKey: nil,
                diagnostics: Diagnostics { _, message in lines.add(message) })
            let fine = Value.bytes([UInt8](repeating: 7, count: 200_000))
            let large = Value.bytes([UInt8](repeating: 7, count: 300_000))
            try await writer.write { _ = try $0.insert(["a": fine], in: "people") }
            #expect(lines.all.isEmpty)
            try await writer.write { _ = try $0.insert(["a": large], in: "people") }
            #expect(lines.all.count == 1 && lines.all[0].contains("300 KB"))
        }
    }

    @Test func `many documents are made together or not at all`() async throws {
        try await withPeople { people in
            let ids = try await people.insert(all: [["a": 1], ["a": 2]])
            #expect(ids.count == 2)
            let failed = await code {
                try await people.insert(all: [["_id": "c"], ["_bad": 2]])
            }
            #expect(failed == .invalid)
            #expect(try await people.findByID("c").exec() == nil)
        }
    }

    @Test func `what throws in an update leaves the document as it was`() async throws {
        struct Failure: Error {}
        try await withPeople { people in
            let id = try await people.insert(["a": 1])
            await #expect(throws: Failure.self) {
                try await people.findByID(id).update { document in
                    document["a"].set(2)
                    throw Failure()
                }
            }
            #expect(try await people.findByID(id).exec()?["a"].integer == 1)
            let code = await code { try await people.findByID("nobody").update { _ in } }
            #expect(code == .notFound)
        }
    }
}
