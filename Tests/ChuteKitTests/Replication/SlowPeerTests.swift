import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Peers that are there and bring nothing, or little.
@Suite(.timeLimit(.minutes(2)))
struct SlowPeerTests {
    // It answers pings, so that its connection lives on: no time-out of that gave its requests back.
    @Test(arguments: [20_000, 9_000_000])
    func `a member that takes requests and answers none keeps no file from others`(
        size: Int
    ) async throws {
        try await withTemporaryDirectory { folder in
            let identity = Chute.Identity.sharedKey(.test())
            let former = try await TestEngine(folder.appending("a"), identity: identity)
            let taker = try await TestEngine(folder.appending("b"), identity: identity)
            let mute = try await RawPeer(at: taker.address())
            try await mute.enter(key: SharedKey.testBytes())
            let pings = Task {
                while !Task.isCancelled {
                    try await mute.send(.ping, .map([:]))
                    try await Task.sleep(for: .milliseconds(300))
                }
            }
            var random = SeededGenerator(seed: 1)
            let bytes = random.bytes(size)
            let document = try await former.share(bytes, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            await former.stop()
            try await former.chute.close()
            // Nobody else is there: it is asked for all of it.
            try await taker.want(id, to: "got")
            try await mute.next(.want)
            let holder = try await TestEngine(
                folder.appending("a"), identity: identity, connect: [taker.address()])
            try await taker.awaitFetched(1)
            #expect(try taker.read("got") == bytes)
            pings.cancel()
            await taker.stop()
            await holder.stop()
        }
    }
}
