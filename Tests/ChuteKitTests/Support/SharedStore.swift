import ChuteSystem
import TestSupport

@testable import ChuteKit

/// A store without a network, in a space with a shared key, whose changes a test carries over.
struct SharedStore: Sendable {
    static let collection = "people"
    let writer: StoreWriter
    let reader: StoreReader
    var store: Store { Store(writer: writer, reader: reader) }
    var device: DeviceID { writer.device }

    init(_ path: BytePath) async throws {
        let key = try DeviceKey.generate()
        writer = try StoreWriter(path: path, key: key, sharedKey: .test())
        try await writer.write { try $0.enter(.test()) }
        reader = try StoreReader(path: path, device: writer.device)
    }

    /// Takes in everything that `other` has; how many changes were news.
    @discardableResult
    func pull(
        from other: SharedStore, _ subscription: Subscription = .everything
    ) async throws -> Int {
        var after: UInt64 = 0
        var news = 0
        let peer = other.device
        let own = device
        while true {
            let from = after
            let pages = try await other.reader.read {
                try $0.changes(
                    after: from, for: own, since: 0, view: PeerView(subscription: subscription))
            }
            guard let end = pages.last?.end else { return news }
            after = end.n
            let parts = try pages.flatMap(\.parts).map {
                ReceivedPart(
                    batch: try SignedBatch(header: $0.header, signature: $0.signature),
                    changes: try $0.changes.map { try Change(bytes: $0) })
            }
            news += try await writer.write { transaction in
                var applied = 0
                for part in parts {
                    for change in part.changes {
                        let outcome = try transaction.receive(change, in: part.batch, from: peer)
                        if outcome == .applied { applied += 1 }
                    }
                }
                return applied
            }
        }
    }

    func find(_ id: DocumentID) async throws -> Document? {
        try await store.read { try $0.find(id, in: Self.collection) }
    }

    /// What is shown, by the ids.
    func all() async throws -> [String: Fields] {
        try await store.read { snapshot in
            let rows = try snapshot.database.prepare(
                "SELECT id, body FROM documents WHERE collection = ? AND hidden = 0"
            ).all(Self.collection) { ($0.bytes(0), $0.optionalBytes(1)) }
            var found: [String: Fields] = [:]
            for (id, body) in rows {
                guard let body, let id = DocumentID(bytes: id) else { continue }
                found[id.description] = try Fields(cbor: CBOR.decode(body))
            }
            return found
        }
    }

    func write<Result: Sendable>(
        _ body: @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await writer.write(body)
    }
}

func withSharedStores(
    _ count: Int, _ body: ([SharedStore]) async throws -> Void
) async throws {
    try await withTemporaryDirectory { folder in
        var stores: [SharedStore] = []
        for number in 0..<count {
            stores.append(try await SharedStore(folder.appending("\(number).db")))
        }
        try await body(stores)
    }
}

extension AttachmentID {
    /// Names bytes that nobody has.
    static func test(byteCount: UInt64) -> AttachmentID {
        guard let id = AttachmentID(digest: Digest(hashing: [1]), byteCount: byteCount) else {
            preconditionFailure("a count of at most 2^53")
        }
        return id
    }
}
