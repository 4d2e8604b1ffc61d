import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What holds for every transport of connected streams. One that is added has its line in `all`.
@Suite(.timeLimit(.minutes(2)))
struct StreamTransportContractTests {
    /// A transport as it listens, in a folder of its own, and as it dials.
    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let listening: @Sendable (_ folder: BytePath) -> any StreamTransport
        let dialling: @Sendable (_ address: String?) -> any StreamTransport
    }

    static let all = [
        Sample(
            testDescription: "tcp", listening: { _ in TCPTransport(listen: "127.0.0.1:0") },
            dialling: { TCPTransport(connect: $0.map { [$0] } ?? []) }),
        Sample(
            testDescription: "websocket",
            listening: { _ in WebSocketTransport(listen: "127.0.0.1:0") },
            dialling: { WebSocketTransport(connect: $0.map { [$0] } ?? []) }),
        Sample(
            testDescription: "toy",
            listening: { ToyTransport(listen: $0.appending("socket").description) },
            dialling: { ToyTransport(connect: $0.map { [$0] } ?? []) }),
    ]

    private let identity = Chute.Identity.sharedKey(.test())

    private func withPair(
        _ sample: Sample, _ body: (TestEngine, TestEngine, String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(
                folder.appending("a"), identity: identity,
                network: .init(transports: [sample.listening(folder)]))
            var address: String?
            try await eventually("an address of its own") {
                address = await a.chute.ownAddresses.first
                return address != nil
            }
            let known = try #require(address)
            let b = try await TestEngine(
                folder.appending("b"), identity: identity,
                network: .init(transports: [sample.dialling(known)]))
            try await body(a, b, known)
            await b.stop()
            await a.stop()
        }
    }

    @Test(arguments: all)
    func `what is shared at one end comes out at the other`(_ sample: Sample) async throws {
        try await withPair(sample) { a, b, _ in
            var random = SeededGenerator(seed: 1)
            let bytes = random.bytes(3_000_000)
            let document = try await a.share(bytes, as: "photo")
            try await b.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await b.want(id, to: "got", from: a.chute.device)
            try await b.awaitFetched(1)
            #expect(try b.read("got") == bytes)
            let name = sample.testDescription
            #expect(try await b.chute.peers().last?.connections.map(\.transport) == [name])
            for engine in [a, b] {
                guard case .running? = await engine.chute.transportStates[name] else {
                    Issue.record("\(name) does not say that it runs")
                    continue
                }
            }
        }
    }

    @Test(arguments: all)
    func `switched off its connections end, and it is dialled again once it is back`(
        _ sample: Sample
    ) async throws {
        try await withPair(sample) { a, b, address in
            try await eventually("connected") { await a.chute.sessionCount == 1 }
            try await b.chute.use(.offline)
            try await eventually("not connected") { await a.chute.sessionCount == 0 }
            #expect(await b.chute.transportStates.isEmpty)
            try await b.chute.use(.init(transports: [sample.dialling(address)]))
            try await eventually("connected again") { await a.chute.sessionCount == 1 }
        }
    }

    @Test(arguments: all)
    func `exchanged amid handshakes it is connected once in the end`(
        _ sample: Sample
    ) async throws {
        try await withPair(sample) { a, b, address in
            var random = SeededGenerator(seed: 2)
            for _ in 0..<20 {
                try await b.chute.use(.offline)
                try await b.chute.use(.init(transports: [sample.dialling(address)]))
                // Before, amid, or after the handshake that this began.
                try await Task.sleep(for: .microseconds(Int.random(in: 0...8000, using: &random)))
            }
            let bytes = random.bytes(50_000)
            let document = try await a.share(bytes, as: "photo")
            try await b.awaitDocument(document)
            try await eventually("one connection at both ends") {
                let counts = [await a.chute.sessionCount, await b.chute.sessionCount]
                return counts == [1, 1]
            }
        }
    }

    @Test(arguments: all)
    func `it dials what it announces, and nothing that belongs to another`(
        _ sample: Sample
    ) async throws {
        try await withPair(sample) { _, _, address in
            let takers = Self.all.filter { $0.dialling(nil).canDial(address) }
            #expect(takers.map(\.testDescription) == [sample.testDescription])
        }
    }

    @Test(arguments: all)
    func `nobody there is an error, said soon`(_ sample: Sample) async throws {
        try await withPair(sample) { a, _, address in
            await a.stop()
            await #expect(throws: (any Error).self) {
                _ = try await sample.dialling(nil).connect(to: address)
            }
        }
    }
}
