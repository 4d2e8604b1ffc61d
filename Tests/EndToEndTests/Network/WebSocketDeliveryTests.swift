import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Two agents that reach each other by WebSockets alone.
@Suite(.timeLimit(.minutes(3)))
struct WebSocketDeliveryTests {
    @Test func `files go both ways, and status says by what`() async throws {
        var random = SeededGenerator(seed: 1)
        let photos = (0..<2).map { _ in SampleFiles.photo(2_000_000, using: &random) }
        try await WebSocketPair.with { pair, port in
            try WebSocketPair.dial("ws://127.0.0.1:\(port)/chute", from: pair.laptop)
            try await withAgents(pair.laptop, pair.pi) { _ in
                try pair.laptop.drop(photos[0], as: "a.jpg")
                try pair.pi.drop(photos[1], as: "b.jpg")
                try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/a.jpg": .init(photos[0])]))
                try await pair.laptop.awaitOutbox(FolderTree(files: ["pi/b.jpg": .init(photos[1])]))
                let (laptop, pi) = (try await pair.laptop.status(), try await pair.pi.status())
                #expect(pi.transport("websocket")?.detail == "ws://127.0.0.1:\(port)/chute")
                #expect(pi.transport("websocket")?.state == "running")
                #expect(laptop.transport("websocket")?.state == "running")
                #expect(laptop.transport("tcp")?.state == "off")
                #expect(laptop.peers.first?.address == "ws://127.0.0.1:\(port)/chute")
            }
        }
    }

    @Test(arguments: ReverseProxy.Kind.allCases)
    func `a transfer through a proxy that is restarted meanwhile comes to its end`(
        _ kind: ReverseProxy.Kind
    ) async throws {
        var random = SeededGenerator(seed: 2)
        let film = random.bytes(24 << 20)
        try await WebSocketPair.with(through: kind) { pi, laptop, proxy in
            try laptop.edit("# upload = \"0 B/s\"", "upload = \"6 MB/s\"")
            try await withAgents(laptop, pi) { _ in
                try laptop.drop(film, as: "film.bin")
                try await eventually(within: .seconds(60), "some of it has come") {
                    try await pi.status().transfers.contains { $0.done > 2 << 20 }
                }
                try await proxy.stop()
                #expect(try FolderTree(of: pi.outbox).files.isEmpty)
                try await proxy.start()
                try await pi.awaitOutbox(
                    FolderTree(files: ["laptop/film.bin": .init(film)]), within: .seconds(90))
                try await laptop.awaitReceipts(1)
            }
        }
    }

    @Test func `what passes a proxy has no name and no byte of a file`() async throws {
        var random = SeededGenerator(seed: 3)
        let pattern = random.bytes(64)
        // Every stretch of it is found again by a few bytes, wherever it is cut.
        let file = Array(repeatElement(pattern, count: 40_000).joined())
        try await WebSocketPair.with { pair, port in
            let recorder = try WebSocketRecorder(to: port)
            try WebSocketPair.dial("ws://127.0.0.1:\(recorder.port)/chute", from: pair.laptop)
            try await withAgents(pair.laptop, pair.pi) { _ in
                try pair.laptop.drop(file, as: "a-name-to-keep.bin")
                try await pair.pi.awaitOutbox(
                    FolderTree(files: ["laptop/a-name-to-keep.bin": .init(file)]))
                try await pair.laptop.awaitReceipts(1)
            }
            try await eventually("the recorder has all") { recorder.bytes.count > file.count }
            let passed = Set(stretches(of: recorder.bytes))
            // The recorder reads what goes by it.
            #expect(passed.isSuperset(of: stretches(of: Array("GET /chute HTTP".utf8))))
            #expect(passed.isSuperset(of: stretches(of: Array("101 Switching".utf8))))
            for secret in [
                "a-name-to-keep", "keep.bin", "laptop", "outbox", "space.key",
            ] {
                let found = stretches(of: Array(secret.utf8)).filter(passed.contains)
                #expect(found.isEmpty, "\(secret)")
            }
            #expect(stretches(of: pattern + pattern).filter(passed.contains).isEmpty)
        }
    }

    /// All stretches of six bytes.
    private func stretches(of bytes: [UInt8]) -> [UInt64] {
        guard bytes.count >= 6 else { return [] }
        var last: UInt64 = 0
        var all: [UInt64] = []
        all.reserveCapacity(bytes.count)
        for (place, byte) in bytes.enumerated() {
            last = (last << 8 | UInt64(byte)) & 0xFFFF_FFFF_FFFF
            if place >= 5 { all.append(last) }
        }
        return all
    }
}
