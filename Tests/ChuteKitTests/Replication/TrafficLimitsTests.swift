import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(1)))
struct TrafficLimitsTests {
    private let identity = Chute.Identity.sharedKey(.test())

    private func limit(
        _ engine: TestEngine, _ change: (inout Chute.Network.Limits) -> Void
    ) async throws {
        var network = await engine.chute.replicator.network
        change(&network.limits)
        try await engine.chute.use(network)
    }

    /// How long `receiver` takes to get `bytes` of `sender`.
    private func transfer(
        _ bytes: [UInt8], _ name: BytePath, from sender: TestEngine, to receiver: TestEngine,
        meanwhile: () async throws -> Void = {}
    ) async throws -> Duration {
        let got = BytePath(bytes: Array("got-".utf8) + name.bytes)
        let document = try await sender.share(bytes, as: name)
        let id = try #require(document["token"]?.attachmentToken?.id)
        try await receiver.awaitDocument(document)
        let start = ContinuousClock.now
        try await receiver.want(id, to: got, from: sender.chute.device)
        try await meanwhile()
        try await receiver.awaitFetched(1)
        #expect(try receiver.read(got) == bytes)
        return ContinuousClock.now - start
    }

    @Test(arguments: [true, false])
    func `a limit holds at the sender and at the receiver`(_ isUpload: Bool) async throws {
        try await withTemporaryDirectory { folder in
            var random = SeededGenerator(seed: 1)
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [try await a.address()])
            let rates =
                isUpload
                ? Chute.Network.Rates(upload: 4_000_000) : .init(download: 4_000_000)
            try await limit(isUpload ? a : b) {
                $0.whole = rates
                $0.limitsLAN = true
            }
            let took = try await transfer(random.bytes(6_000_000), "x", from: a, to: b)
            #expect(took > .milliseconds(1250), "1.5 s less what may pass at once")
            await b.stop()
            await a.stop()
        }
    }

    @Test func `a limit that is lifted in the middle of a transfer is lifted`() async throws {
        try await withTemporaryDirectory { folder in
            var random = SeededGenerator(seed: 2)
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [try await a.address()])
            // It would take more than the half minute that is waited for it.
            try await limit(a) { $0.peers[b.chute.device] = .init(upload: 700_000) }
            _ = try await transfer(random.bytes(30_000_000), "x", from: a, to: b) {
                try await eventually("a slow beginning") { !a.chute.transfers().isEmpty }
                try await limit(a) { $0.peers = [:] }
            }
            await b.stop()
            await a.stop()
        }
    }

    @Test func `a slow peer slows nobody else`() async throws {
        try await withTemporaryDirectory { folder in
            var random = SeededGenerator(seed: 3)
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let address = try await a.address()
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [address])
            let c = try await TestEngine(
                folder.appending("c"), identity: identity, connect: [address])
            try await limit(a) { $0.peers[b.chute.device] = .init(upload: 700_000) }
            let document = try await a.share(random.bytes(8_000_000), as: "slow")
            try await b.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await b.want(id, to: "got", from: a.chute.device)
            try await eventually("a slow beginning") { !a.chute.transfers().isEmpty }
            _ = try await transfer(random.bytes(8_000_000), "fast", from: a, to: c)
            #expect(
                a.chute.transfers().contains { $0.peer == b.chute.device && $0.done < 8_000_000 })
            for engine in [c, b, a] { await engine.stop() }
        }
    }
}
