import ChuteSystem
import Glibc
import TestSupport
import Testing

/// What strangers may do to a server.
@Suite(.timeLimit(.minutes(2)))
struct WebSocketHostileTests {
    private let service: WebSocketService
    /// One that waits for a second only.
    private let impatient: WebSocketService

    init() {
        var limits = WebSocketLimits()
        limits.largestMessage = 256 << 10
        limits.connections = 40
        service = WebSocketService(limits: limits, environment: ProcessEnvironment([:]))
        limits.handshake = .seconds(1)
        impatient = WebSocketService(limits: limits, environment: ProcessEnvironment([:]))
    }

    private static func request(
        _ path: String = "/chute", _ more: String = "Sec-WebSocket-Protocol: chute\r\n"
    ) -> String {
        "GET \(path) HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\(more)\r\n"
    }

    /// A WebSocket whose client is the test itself.
    private func opened(
        _ listener: WebSocketListener
    ) async throws -> (client: ByteEnd, server: ByteEnd) {
        let client = try await ByteEnd(to: listener.address)
        try await client.write(Self.request())
        let answer = try await client.readHeader()
        try #require(answer.hasPrefix("HTTP/1.1 101 "))
        #expect(answer.lowercased().contains("\r\nsec-websocket-protocol: chute\r\n"))
        return (client, try await listener.next().end)
    }

    /// A frame with a mask of zeros.
    private static func frame(_ first: UInt8, count: Int, _ payload: [UInt8]) -> [UInt8] {
        var bytes = [first]
        if count < 126 {
            bytes.append(0x80 | UInt8(count))
        } else {
            bytes.append(0x80 | 127)
            bytes += withUnsafeBytes(of: UInt64(count).bigEndian, Array.init)
        }
        return bytes + [0, 0, 0, 0] + payload
    }

    @Test(arguments: ["/", "/chute/", "/chutes", "/Chute", "/chute/..", "/%63hute2"])
    func `another path does not exist`(path: String) async throws {
        let listener = try await WebSocketListener(in: service)
        let client = try await ByteEnd(to: listener.address)
        try await client.write(Self.request(path))
        #expect(try await client.readHeader().contains(" 404 "))
        _ = try await client.readToEnd()
    }

    @Test func `a browser is told that there is no page`() async throws {
        let listener = try await WebSocketListener(in: service)
        for (path, status) in [("/", 404), ("/chute", 426)] {
            let client = try await ByteEnd(to: listener.address)
            try await client.write("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await client.readHeader().contains(" \(status) "))
            _ = try await client.readToEnd()
        }
    }

    @Test(arguments: [
        "GARBAGE\r\n\r\n", "GET /chute%00 HTTP/1.1\r\nHost: x\r\n\r\n",
        "\u{0}\u{0}\u{0}\u{0}", "GET /chute HTTP/1.1\r\nUpgrade: h2c\r\n\r\n",
        "POST /chute HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999999999999\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /" + String(repeating: "a", count: 100_000),
        "GET /chute HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 20_000),
        "GET /chute HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: close\r\n\r\n",
        "GET /chute HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}",
    ])
    func `garbage ends in time, and another is served meanwhile`(garbage: String) async throws {
        let listener = try await WebSocketListener(in: service)
        let other = try await WebSocketListener(in: impatient)
        let stranger = try await ByteEnd(to: other.address)
        async let ended: Void = {
            // Whether it is hung up on in the middle is not to be known.
            try? await stranger.write(garbage)
            _ = try await stranger.readToEnd()
        }()
        let (client, server) = try await opened(listener)
        try await client.write(Self.frame(0x82, count: 5, Array("hello".utf8)))
        #expect(try await server.read(exactly: 5) == Array("hello".utf8))
        try await ended
        try await eventually("settled") { other.settledCount == 1 }
        try await eventually("closed") { try await impatient.connectionCount() == 0 }
        client.close()
    }

    @Test func `who sends a header slowly is cut in time`() async throws {
        let listener = try await WebSocketListener(in: impatient)
        let stranger = try await ByteEnd(to: listener.address)
        let start = ContinuousClock.now
        let isCut = Task {
            for byte in Self.request().utf8 {
                do { try await stranger.write([byte]) } catch { return }
                try await Task.pause(for: .milliseconds(100))
            }
        }
        #expect(try await stranger.readToEnd().isEmpty)
        #expect(ContinuousClock.now - start < .seconds(10))
        isCut.cancel()
        try await eventually("settled") { listener.settledCount == 1 }
        try await eventually("closed") { try await impatient.connectionCount() == 0 }
    }

    @Test func `who only connects is cut in time`() async throws {
        let listener = try await WebSocketListener(in: impatient)
        let strangers = try await withThrowingTaskGroup(of: ByteEnd.self) { group in
            for _ in 0..<20 { group.addTask { try await ByteEnd(to: listener.address) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for stranger in strangers { #expect(try await stranger.readToEnd().isEmpty) }
        try await eventually("settled") { listener.settledCount == 20 }
    }

    @Test func `there are no more connections than the limit`() async throws {
        let listener = try await WebSocketListener(in: service)
        var ends: [(client: ByteEnd, server: ByteEnd)] = []
        for _ in 0..<40 { ends.append(try await opened(listener)) }
        let late = try await ByteEnd(to: listener.address)
        #expect(try await late.readToEnd().isEmpty)
        #expect(try await service.connectionCount() == 40)
        for end in ends { end.client.close() }
        try await eventually("closed") { try await service.connectionCount() == 0 }
        _ = try await opened(listener)
    }

    @Test func `a frame without a mask does no more than one with`() async throws {
        let listener = try await WebSocketListener(in: service)
        let (client, server) = try await opened(listener)
        try await client.write([0x82, 3, 1, 2, 3])
        client.close()
        let received = try await server.readToEnd()
        #expect(received.isEmpty || received == [1, 2, 3])
    }

    @Test(
        arguments: [
            // text; a type that there is not; reserved bits; a fragmented ping; a continuation of
            // nothing; a control frame of extended length
            [0x81, 0x83, 0, 0, 0, 0, 65, 66, 67], [0x83, 0x80, 0, 0, 0, 0],
            [0xF2, 0x80, 0, 0, 0, 0],
            [0x09, 0x80, 0, 0, 0, 0], [0x80, 0x83, 0, 0, 0, 0, 1, 2, 3],
            [0x89, 0xFE, 0, 126, 0, 0, 0, 0],
        ] as [[UInt8]])
    func `what the protocol does not have ends the connection`(frame: [UInt8]) async throws {
        let listener = try await WebSocketListener(in: service)
        let (client, server) = try await opened(listener)
        try await client.write(frame)
        #expect(try await server.readToEnd().isEmpty)
        _ = try await client.readToEnd()
    }

    @Test(arguments: [(256 << 10) + 1, 1 << 40, Int.max])
    func `a message beyond the limit ends the connection`(count: Int) async throws {
        let listener = try await WebSocketListener(in: service)
        let (client, server) = try await opened(listener)
        try await client.write(Self.frame(0x82, count: count, [UInt8](repeating: 1, count: 100)))
        #expect(try await server.readToEnd().isEmpty)
        let answer = try await client.readToEnd()
        #expect(answer.prefix(4) == [0x88, 2, 0x03, 0xF1])  // 1009
    }

    @Test func `a message in pieces beyond the limit ends the connection`() async throws {
        let listener = try await WebSocketListener(in: service)
        let (client, server) = try await opened(listener)
        let piece = [UInt8](repeating: 1, count: 100 << 10)
        try await client.write(Self.frame(0x02, count: piece.count, piece))
        try await client.write(Self.frame(0x00, count: piece.count, piece))
        #expect(try await server.read(exactly: 200 << 10).count == 200 << 10)
        // It is hung up on in the middle.
        try? await client.write(Self.frame(0x00, count: piece.count, piece))
        #expect(try await server.readToEnd().count <= 56 << 10)
    }

    @Test func `a message may be empty, and may come in pieces`() async throws {
        let listener = try await WebSocketListener(in: service)
        let (client, server) = try await opened(listener)
        try await client.write(Self.frame(0x82, count: 0, []))
        try await client.write(Self.frame(0x02, count: 1, [1]))
        try await client.write(Self.frame(0x89, count: 2, [7, 7]))  // a ping in between
        try await client.write(Self.frame(0x80, count: 1, [2]))
        #expect(try await server.read(exactly: 2) == [1, 2])
        #expect(try await client.read(exactly: 4) == [0x8A, 2, 7, 7])
    }

    @Test func `pings without end cost nothing`() async throws {
        let listener = try await WebSocketListener(in: service)
        let (client, server) = try await opened(listener)
        let ping = Self.frame(0x89, count: 125, [UInt8](repeating: 5, count: 125))
        let flood = Array(repeatElement(ping, count: 20_000).joined())
        // Answers are not read, so that the flood may come to a halt: until then it is bounded.
        async let sent: Void = client.write(flood)
        async let answers = client.readToEnd()
        server.close()
        _ = try? await (sent, answers)
        try await eventually("closed") { try await service.connectionCount() == 0 }
    }
}
