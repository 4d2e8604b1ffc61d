import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What is under way for a want that nobody has any more.
@Suite(.timeLimit(.minutes(2)))
struct WithdrawalTests {
    private let identity = Chute.Identity.sharedKey(.test())

    @Test func `what was asked for is taken back from the peer with the want`() async throws {
        try await withTemporaryDirectory { folder in
            let engine = try await TestEngine(folder.appending("a"), identity: identity)
            let peer = try await RawPeer(at: try await engine.address())
            try await peer.enter(key: SharedKey.testBytes())
            let id = try #require(
                AttachmentID(digest: Digest(hashing: [1]), byteCount: 20_000_000))
            let want = try await engine.want(id, to: "got")
            var asked: Set<UInt64> = []
            // The hashes and as many pieces as may be in flight.
            while asked.count < 9 {
                let requests = try PieceRequest.list(cbor: CBOR.decode(try await peer.next(.want)))
                asked.formUnion(requests.map { UInt64($0.number) })
            }
            try await engine.chute.store.write { try $0.unwant(want.id) }
            var cancelled: Set<UInt64> = []
            while cancelled.count < asked.count {
                let numbers = try CBOR.decode(try await peer.next(.cancel)).arrayValue ?? []
                cancelled.formUnion(numbers.compactMap(\.uint))
            }
            #expect(cancelled == asked)
            await engine.stop()
        }
    }

    @Test func `bytes of a want that was withdrawn do not hold up what is wanted`() async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let proxy = try FaultyProxy(
                to: try await a.address(), faults: .init(holdAfter: 300_000))
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [proxy.address])
            var random = SeededGenerator(seed: 41)
            let film = try await a.share(random.bytes(30_000_000), as: "film")
            let note = try await a.share([1], as: "note")
            try await b.awaitDocument(film)
            try await b.awaitDocument(note)
            let id = try #require(film["token"]?.attachmentToken?.id)
            let want = try await b.want(id, to: "film", from: a.chute.device)
            try await eventually("the film is on its way") { proxy.downCount > 300_000 }
            var said = proxy.upCount
            try await b.chute.store.write { try $0.unwant(want.id) }
            try await eventually("the peer is told") { proxy.upCount > said }
            said = proxy.upCount
            try await b.want(
                try #require(note["token"]?.attachmentToken?.id), to: "note", from: a.chute.device)
            try await eventually("the note is asked for") { proxy.upCount > said }
            proxy.set(.init())
            try await b.awaitFetched(1)
            #expect(try b.read("note") == [1])
            // What was in flight and what the sockets hold comes in any case, and no more of 30 MB.
            #expect(proxy.downCount < 16 << 20)
            await b.stop()
            await a.stop()
            await proxy.stop()
        }
    }
}
