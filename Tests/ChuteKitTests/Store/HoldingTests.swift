import TestSupport
import Testing

@testable import ChuteKit

/// Who says that it has the bytes of an attachment.
@Suite(.timeLimit(.minutes(1)))
struct HoldingTests {
    private static let people = SharedStore.collection
    private let attachment = AttachmentID.test(byteCount: 5)

    private func withPicture(
        _ body: (SharedStore, SharedStore, DocumentID) async throws -> Void
    ) async throws {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let token = AttachmentToken(id: attachment)
            let id = try await one.write {
                try $0.insert(["picture": .attachment(token)], in: Self.people)
            }
            try await two.pull(from: one)
            try await body(one, two, id)
        }
    }

    private func holders(at store: SharedStore) async throws -> Set<DeviceID> {
        let attachment = attachment
        return try await store.store.read { try $0.holders(of: attachment) }
    }

    @Test func `who fetched the bytes says so, and that they are gone once they are`()
        async throws
    {
        try await withPicture { one, two, _ in
            let attachment = attachment
            #expect(try await holders(at: one).isEmpty)
            try await two.write { try $0.acknowledge(attachment) }
            try await one.pull(from: two)
            #expect(try await holders(at: one) == [two.device])
            try await two.write { try $0.takeBackAcknowledgement(of: attachment) }
            try await one.pull(from: two)
            #expect(try await holders(at: one).isEmpty)
            // It may fetch them again.
            try await two.write { try $0.acknowledge(attachment) }
            try await one.pull(from: two)
            #expect(try await holders(at: one) == [two.device])
        }
    }

    @Test func `whoever writes a document with bytes that are here says that it has them`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let attachment = attachment
            let token = Value.attachment(AttachmentToken(id: attachment))
            let id = try await one.write { transaction in
                let root = try transaction.registerRoot(mark: [1], path: "/x", role: "blobs")
                try transaction.addLocation(
                    Location(root: root, path: "a", fingerprint: [1], isOwned: true),
                    of: attachment)
                return try transaction.insert(["picture": token], in: Self.people)
            }
            try await two.pull(from: one)
            #expect(try await holders(at: two) == [one.device])
            // Who only passes it on has nothing to say of it.
            try await two.write { try $0.update(id, in: Self.people) { $0["a"].set(1) } }
            #expect(try await holders(at: two) == [one.device])
        }
    }

    @Test func `bytes that nobody else has stay named when their document is put away`()
        async throws
    {
        try await withPicture { one, two, id in
            let attachment = attachment
            func isNamed() async throws -> Bool {
                try await one.write { transaction in
                    try transaction.database.prepare("SELECT 1 FROM tokens WHERE digest = ?")
                        .first(attachment.digest.bytes) { _ in true } ?? false
                }
            }
            try await one.write { _ = try $0.evict(id, in: Self.people) }
            #expect(try await isNamed())
            try await two.write { try $0.acknowledge(attachment) }
            try await one.pull(from: two)
            try await one.write { _ = try $0.upsert(["a": 1], as: id, in: Self.people) }
            try await one.write { _ = try $0.evict(id, in: Self.people) }
            #expect(try await !isNamed())
        }
    }

    /// Each relied on the other's receipt, and the bytes were collected on both.
    @Test func `two devices that put a document away one after the other keep its bytes on one`()
        async throws
    {
        try await withPicture { one, two, id in
            let attachment = attachment
            for store in [one, two] { try await store.write { try $0.acknowledge(attachment) } }
            try await one.pull(from: two)
            try await two.pull(from: one)
            try await one.write { _ = try $0.evict(id, in: Self.people) }
            try await two.pull(from: one)
            #expect(try await holders(at: two) == [two.device])
            try await two.write { _ = try $0.evict(id, in: Self.people) }
            #expect(try await two.store.read { try $0.isKept(attachment) })
            #expect(try await !one.store.read { try $0.isKept(attachment) })
        }
    }

    @Test func `who collected the bytes as garbage does not say any longer that they are here`()
        async throws
    {
        try await withPicture { one, two, id in
            let attachment = attachment
            let location = Location(
                root: 1, path: "blob", fingerprint: [1], isOwned: true)
            try await two.write { transaction in
                try transaction.addLocation(location, of: attachment)
                try transaction.acknowledge(attachment)
            }
            try await one.pull(from: two)
            try await one.write { _ = try $0.remove(id, in: Self.people) }
            try await two.pull(from: one)
            let isForgotten = try await two.write {
                try $0.forgetIfUnreferenced(.init(attachment: attachment, location: location))
            }
            #expect(isForgotten)
            // The same document again, with the same picture.
            let token = AttachmentToken(id: attachment)
            try await one.write { transaction in
                _ = try transaction.insert(
                    ["picture": .attachment(token)], as: id, in: Self.people)
            }
            try await one.pull(from: two)
            #expect(try await holders(at: one).isEmpty)
        }
    }
}
