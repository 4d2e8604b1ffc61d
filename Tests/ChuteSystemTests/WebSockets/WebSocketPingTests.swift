import ChuteSystem
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct WebSocketPingTests {
    private let patient = WebSocketService(environment: ProcessEnvironment([:]))
    private let service: WebSocketService

    init() {
        var limits = WebSocketLimits()
        limits.pingInterval = .milliseconds(100)
        limits.unansweredPings = 30  // a busy machine may take a second or two
        service = WebSocketService(limits: limits, environment: ProcessEnvironment([:]))
    }

    private static let request =
        "GET /chute HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"

    @Test func `a connection that nobody uses stays`() async throws {
        let listener = try await WebSocketListener(in: service)
        let client = try ByteEnd(try await service.connect(to: listener.url))
        let server = try await listener.next().end
        // More pings than may stay without an answer.
        try await Task.pause(for: .seconds(4))
        try await client.write("still")
        #expect(try await server.read(exactly: 5) == Array("still".utf8))
        #expect(try await service.connectionCount() == 2)
    }

    @Test func `who answers no ping is given up`() async throws {
        let listener = try await WebSocketListener(in: service)
        let client = try await ByteEnd(to: listener.address)
        try await client.write(Self.request)
        _ = try await client.readHeader()
        let server = try await listener.next().end
        #expect(try await client.read(exactly: 2) == [0x89, 4])
        #expect(try await server.readToEnd().isEmpty)
        try await eventually("closed") { try await service.connectionCount() == 0 }
    }

    @Test func `a pong is enough`() async throws {
        let listener = try await WebSocketListener(in: service)
        let client = try await ByteEnd(to: listener.address)
        try await client.write(Self.request)
        _ = try await client.readHeader()
        let server = try await listener.next().end
        for _ in 0..<35 {
            let ping = try await client.read(exactly: 6)
            #expect(ping.prefix(2) == [0x89, 4])
            try await client.write([0x8A, 0x84, 0, 0, 0, 0] + ping.dropFirst(2))
        }
        try await client.write([0x82, 0x81, 0, 0, 0, 0, 9])
        #expect(try await server.read(1) == [9])
    }

    @Test func `a slow reader gives nobody up whose answers it does not read`() async throws {
        let listener = try await WebSocketListener(in: service)
        let client = try ByteEnd(try await patient.connect(to: listener.url))
        let server = try await listener.next().end
        let sent = [UInt8](repeating: 3, count: 30 << 20)
        async let written: Void = client.write(sent)
        // The server's side reads nothing, for longer than it waits for an answer.
        try await Task.pause(for: .seconds(4))
        #expect(try await service.connectionCount() == 1)
        #expect(try await server.read(exactly: sent.count) == sent)
        try await written
    }
}
