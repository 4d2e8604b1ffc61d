import ChuteSystem
import Glibc
import TestSupport
import Testing

/// A client and a server of one service, by plain TCP.
@Suite(.timeLimit(.minutes(2)))
struct WebSocketTests {
    private let service = WebSocketService(environment: ProcessEnvironment([:]))

    private func connected() async throws -> (client: ByteEnd, server: ByteEnd) {
        let listener = try await WebSocketListener(in: service)
        let client = try ByteEnd(try await service.connect(to: listener.url))
        return (client, try await listener.next().end)
    }

    @Test func `what one end writes the other reads, both ways`() async throws {
        let (client, server) = try await connected()
        try await client.write("hello")
        #expect(try await server.read(exactly: 5) == Array("hello".utf8))
        try await server.write("welcome")
        #expect(try await client.read(exactly: 7) == Array("welcome".utf8))
    }

    @Test func `a hundred megabytes come back as they went`() async throws {
        let (client, server) = try await connected()
        let count = 100 << 20
        async let echoed: Void = {
            while true {
                let bytes = try await server.read(256 << 10)
                if bytes.isEmpty { return }
                try await server.write(bytes)
            }
        }()
        var generator = SeededGenerator(seed: 1)
        let sent = generator.bytes(count)
        async let written: Void = client.write(sent)
        var received = 0
        while received < count {
            let bytes = try await client.read(256 << 10)
            guard !bytes.isEmpty else { break }
            let isSame = sent.withUnsafeBytes { sent in
                bytes.withUnsafeBytes {
                    memcmp(sent.baseAddress! + received, $0.baseAddress!, $0.count) == 0
                }
            }
            guard isSame else { break }
            received += bytes.count
        }
        #expect(received == count)
        try await written
        client.close()
        try await echoed
    }

    @Test(arguments: [false, true])
    func `a reader that stops and goes on loses nothing`(isServerReading: Bool) async throws {
        let ends = try await connected()
        let (reader, writer) =
            isServerReading ? (ends.server, ends.client) : (ends.client, ends.server)
        var generator = SeededGenerator(seed: 2)
        let sent = generator.bytes(20 << 20)
        async let written: Void = {
            try await writer.write(sent)
            writer.close()
        }()
        var received: [UInt8] = []
        var sizes = SeededGenerator(seed: 3)
        while true {
            // Sometimes a few bytes, so that the pair is full most of the time.
            let bytes = try await reader.read(Int.random(in: 1...40_000, using: &sizes))
            if bytes.isEmpty { break }
            received += bytes
            if sizes.next() % 16 == 0 { await Task.yield() }
        }
        #expect(received == sent)
        try await written
    }

    @Test func `who does not read holds the writer up, and costs no memory`() async throws {
        let (client, server) = try await connected()
        let chunk = [UInt8](repeating: 7, count: 64 << 10)
        var (taken, refusals) = (0, 0)
        // Two pairs and a TCP connection have buffers, at most some megabytes each.
        try await eventually("the writer is held up") {
            while taken < 64 << 20 {
                let count = try client.writeNow(chunk)
                taken += count
                refusals = count == 0 ? refusals + 1 : 0
                if count == 0 { break }
            }
            return refusals > 40 || taken >= 64 << 20
        }
        #expect(taken < 16 << 20)
        client.close()
        #expect(try await server.readToEnd().count == taken)
    }

    @Test(arguments: [false, true])
    func `the end of one side is the end of the other, after what was written`(
        isServerClosing: Bool
    ) async throws {
        for count in [0, 1, 65_536, 300_000] {
            let ends = try await connected()
            let (closing, other) =
                isServerClosing ? (ends.server, ends.client) : (ends.client, ends.server)
            let sent = [UInt8](repeating: 9, count: count)
            async let received = other.readToEnd()
            try await closing.write(sent)
            closing.close()
            #expect(try await received == sent)
        }
    }

    @Test func `nothing is left open of a hundred connections`() async throws {
        let listener = try await WebSocketListener(in: service)
        func connectOnce() async throws {
            let client = try ByteEnd(try await service.connect(to: listener.url))
            let server = try await listener.next().end
            try await client.write("x")
            #expect(try await server.read(1).count == 1)
            client.close()
            #expect(try await server.read(1).isEmpty)
        }
        try await connectOnce()
        try await eventually("closed") { try await openConnections() == 0 }
        let before = try openDescriptors()
        for _ in 0..<100 { try await connectOnce() }
        try await eventually("closed") { try await openConnections() == 0 }
        // Other tests open and close some too.
        try await eventually("descriptors closed") { try openDescriptors() < before + 50 }
    }

    private func openConnections() async throws -> Int { try await service.connectionCount() }

    private func openDescriptors() throws -> Int { try Folder(at: "/proc/self/fd").entries().count }

    @Test func `an end of the service is the end of its connections`() async throws {
        var service: WebSocketService? = WebSocketService(environment: ProcessEnvironment([:]))
        let listener = try await WebSocketListener(in: try #require(service))
        let client = try ByteEnd(try await #require(service).connect(to: listener.url))
        let server = try await listener.next().end
        service = nil
        listener.stop()
        #expect(try await client.read().isEmpty)
        #expect(try await server.read().isEmpty)
    }

    @Test func `who was cancelled while connecting says so`() async throws {
        let silent = try RawServer { _ = try await $0.readToEnd() }
        let task = Task { _ = try await service.connect(to: silent.url) }
        try await eventually("connected") { silent.acceptedCount > 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await eventually("closed") { try await openConnections() == 0 }
    }
}
