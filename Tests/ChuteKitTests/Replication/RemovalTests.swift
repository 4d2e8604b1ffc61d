import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Who is believed that this device was removed.
@Suite(.timeLimit(.minutes(2)))
struct RemovalTests {
    /// An engine that dials a stranger who says that it was removed, twice at least.
    private func dialStranger(
        identity: Chute.Identity, _ body: (TestEngine) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let stranger = try RudeStranger(saying: "removed")
            let engine = try await TestEngine(
                folder.appending("one"), identity: identity, connect: [stranger.address])
            let result: Result<Void, any Error>
            do {
                // Before it dials again it has thought about what it heard.
                try await eventually("it was said twice") { stranger.heardCount >= 2 }
                result = .success(try await body(engine))
            } catch { result = .failure(error) }
            await engine.stop()
            await stranger.stop()
            try result.get()
        }
    }

    @Test func `a stranger at a dialled address told who shares by a key to leave`() async throws {
        try await dialStranger(identity: .sharedKey(.test())) { engine in
            #expect(engine.said.contains { $0.contains("goodbye: removed") })
            #expect(await engine.chute.removedBy.isEmpty)
            #expect(!engine.said.contains { $0.contains("chute leave") })
        }
    }

    @Test func `a stranger at a dialled address is no member that removes`() async throws {
        try await dialStranger(identity: .paired) { engine in
            #expect(engine.said.contains { $0.contains("is not a member of this space") })
            #expect(await engine.chute.removedBy.isEmpty)
        }
    }

    @Test func `nobody is removed from a space with a shared key, whoever says so`() async throws {
        try await withTemporaryDirectory { folder in
            let engine = try await TestEngine(
                folder.appending("one"), identity: .sharedKey(.test()))
            let peer = try await RawPeer(at: engine.address())
            try await peer.enter(key: SharedKey.testBytes())
            try await eventually("connected") { await engine.chute.sessionCount == 1 }
            try await peer.send(.goodbye, .map([0: .text("removed")]))
            try await eventually("its word was heard") {
                let removers = await engine.chute.removedBy
                return !removers.isEmpty || engine.said.contains { $0.contains("disconnected") }
            }
            #expect(await engine.chute.removedBy.isEmpty)
            #expect(engine.said.contains { $0.contains("it says removed") })
            await engine.stop()
        }
    }
}
