import ChuteSystem
import TestSupport
import Testing

/// What a client makes of servers that are none of ours.
@Suite(.timeLimit(.minutes(2)))
struct WebSocketHandshakeTests {
    private let service = WebSocketService(environment: ProcessEnvironment([:]))

    /// One that waits for a second only.
    private let impatient: WebSocketService = {
        var limits = WebSocketLimits()
        limits.handshake = .seconds(1)
        return WebSocketService(limits: limits, environment: ProcessEnvironment([:]))
    }()

    private func failure(
        _ url: WebSocketURL, in service: WebSocketService? = nil
    ) async throws -> WebSocketError {
        let service = service ?? self.service
        do { _ = try await service.connect(to: url) } catch let error as WebSocketError {
            return error
        }
        throw NeverHappened(what: "a failure")
    }

    private func answering(_ answer: String) throws -> RawServer {
        try RawServer { end in
            _ = try await end.readHeader()
            try await end.write(answer)
            _ = try await end.readToEnd()
        }
    }

    @Test(arguments: [404, 502, 301, 200, 401, 407, 426])
    func `another status than 101 is said`(status: Int) async throws {
        let extra = status == 301 ? "Location: http://127.0.0.1:9/chute\\r\\n" : ""
        let server = try answering(
            "HTTP/1.1 \(status) What\r\nContent-Length: 0\r\n\(extra)Connection: close\r\n\r\n")
        let error = try await failure(server.url)
        #expect(error.kind == .status(status), "\(error)")
        #expect(server.acceptedCount == 1)
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n", "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
        "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "",
    ])
    func `an answer of something else is no WebSocket`(answer: String) async throws {
        let server = try RawServer { end in
            _ = try await end.readHeader()
            try await end.write(answer)
        }
        let error = try await failure(server.url)
        #expect(error.kind == .notWebSocket, "\(error)")
    }

    @Test func `who gives no answer is given up in time`() async throws {
        let server = try RawServer { _ = try await $0.readToEnd() }
        let error = try await failure(server.url, in: impatient)
        #expect(error.kind == .timedOut, "\(error)")
        try await eventually("closed") { try await impatient.connectionCount() == 0 }
    }

    @Test func `an answer that never ends is given up in time`() async throws {
        let server = try RawServer { end in
            try await end.write("HTTP/1.1 101 Switching Protocols\r\n")
            while true {
                try await end.write("A: B\r\n")
                try await Task.pause(for: .milliseconds(20))
            }
        }
        let kind = try await failure(server.url, in: impatient).kind
        #expect([.timedOut, .notWebSocket].contains(kind))
    }

    @Test func `a port where nobody listens is unreachable`() async throws {
        let server = try RawServer { _ in }
        let url = server.url
        server.stop()
        try await eventually("closed") {
            do { _ = try await ByteEnd(to: url.address) } catch { return true }
            return false
        }
        let error = try await failure(url)
        #expect(error.kind == .unreachable, "\(error)")
    }

    @Test func `a name without an address says so`() async throws {
        let url = try #require(WebSocketURL("ws://nobody.invalid/chute"))
        let error = try await failure(url)
        #expect(error.kind == .unreachable)
        #expect(error.detail.contains("nobody.invalid"))
    }

    @Test func `the request names the host, the path and the protocol`() async throws {
        let asked = Mailbox<String>()
        let server = try RawServer { end in asked.post(try await end.readHeader()) }
        let port = server.address.port
        let url = try #require(WebSocketURL("ws://localhost:\(port)/a/b?c=d"))
        _ = try await failure(url)
        let request = try #require(await asked.next().first)
        #expect(request.hasPrefix("GET /a/b?c=d HTTP/1.1\r\n"))
        for line in [
            "Host: localhost:\(port)", "Upgrade: websocket", "Sec-WebSocket-Protocol: chute",
        ] {
            #expect(request.contains("\r\n\(line)\r\n"), "\(request)")
        }
        #expect(!request.contains("Extensions"))
    }
}
