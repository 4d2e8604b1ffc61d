import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Streams from peers that have to begin anew while they are open.
@Suite(.timeLimit(.minutes(1)))
struct StreamRestartTests {
    private struct Author {
        let key: DeviceKey
        var device: DeviceID { DeviceID(publicKey: key.spki) }
        init() throws { key = try DeviceKey.generate() }

        func part(
            _ counter: UInt64, at time: UInt64, _ value: Value, in space: SpaceID
        ) -> ReceivedPart {
            let change = Change(
                kind: .fields, author: device, counter: counter,
                stamp: Stamp(milliseconds: time), collection: "people",
                document: DocumentID(text: [1]),
                body: FieldWrites(inserting: ["a": value]).cbor)
            return ReceivedPart(
                batch: SignedBatch(signing: [change.hash], in: space, with: key),
                changes: [change])
        }
    }

    private func cursor(_ store: StoreWriter, _ peer: DeviceID) async throws -> Cursor? {
        try await store.write { try $0.cursor(from: peer) }
    }

    /// One of the two wrote over what the other wrote, and was removed: what was written over was
    /// dropped here, and is left at the peer whose stream goes on.
    @Test func `an open stream does not put back a cursor that was taken away`() async throws {
        try await withTemporaryDirectory { folder in
            let store = try StoreWriter(
                path: folder.appending("chute.db"), key: DeviceKey.generate(), sharedKey: nil)
            _ = try await store.write {
                try $0.makeTicket(role: .member, uses: 1, lifetimeSeconds: 9, addresses: [])
            }
            let (good, bad) = (try Author(), try Author())
            let (peer, removed) = (good.device, bad.device)
            let id = DocumentID(text: [1])
            try await store.write { transaction in
                try transaction.admit(peer, as: .member)
                try transaction.admit(removed, as: .member)
            }
            let space = await store.space
            let restarts = await store.streamRestarts
            let early = good.part(1, at: 1, "kept", in: space)
            let late = bad.part(5, at: 2, "gone", in: space)
            let end = Cursor(n: 7, tag: [1])
            for part in [late, early] {
                _ = try await store.write {
                    try $0.receive([part], upTo: end, from: peer, restarts: restarts)
                }
            }
            #expect(try await cursor(store, peer) == end)
            // Cut off before its only change, by somebody whose facts come by the same stream.
            try await store.write { transaction in
                try transaction.state(.removal(device: removed, cutoff: 0))
            }
            #expect(try await store.write { try $0.find(id, in: "people") } == nil)
            #expect(try await cursor(store, peer) == nil)
            _ = try await store.write {
                try $0.receive([], upTo: Cursor(n: 8, tag: [2]), from: peer, restarts: restarts)
            }
            #expect(try await cursor(store, peer) == nil, "what came before is never asked for")
            let now = await store.streamRestarts
            _ = try await store.write {
                try $0.receive([early], upTo: end, from: peer, restarts: now)
            }
            #expect(try await cursor(store, peer) == end)
            let document = try await store.write { try $0.find(id, in: "people") }
            #expect(document?.fields == ["a": "kept"])
        }
    }
}
