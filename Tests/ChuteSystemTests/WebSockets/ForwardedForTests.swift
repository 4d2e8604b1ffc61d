import ChuteSystem
import TestSupport
import Testing

struct ForwardedForTests {
    private let trusted = ["127.0.0.0/8", "10.0.0.0/8", "fd00::/8"].compactMap(NetworkPrefix.init)

    private func source(_ peer: String, _ header: String?) throws -> String {
        ForwardedFor.source(
            of: try #require(SocketAddress(peer)), header: header, trusted: trusted)
    }

    @Test(arguments: [nil, "", "1.2.3.4", "1.2.3.4, 5.6.7.8"])
    func `who is no trusted proxy says nothing about others`(header: String?) throws {
        #expect(try source("9.9.9.9:5", header) == "9.9.9.9:5")
    }

    @Test(arguments: [
        ("1.2.3.4", "1.2.3.4"), ("6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4, 10.0.0.7", "1.2.3.4"), ("10.0.0.8,10.0.0.7", "10.0.0.8"),
        ("1.2.3.4:5678", "1.2.3.4"), ("[2001:db8::1]:80", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"), ("\"[2001:db8::1]\"", "2001:db8::1"),
        (" 1.2.3.4 ", "1.2.3.4"),
    ])
    func `the rightmost address that is no proxy's is believed`(
        header: String, source expected: String
    ) throws {
        #expect(try source("127.0.0.1:5", header) == expected)
    }

    @Test(
        arguments: [
            (nil, "127.0.0.1:5"), ("", "127.0.0.1:5"), ("unknown", "127.0.0.1:5"),
            ("1.2.3.4,", "127.0.0.1:5"), ("evil, 10.0.0.7", "10.0.0.7"),
            ("1.2.3.4, example.org", "127.0.0.1:5"), ("10.0.0.0/8", "127.0.0.1:5"),
            ("1.2.3.4, ::ffff:10.0.0.1", "1.2.3.4"),
        ] as [(String?, String)])
    func `an entry that is no address ends the search`(
        header: String?, source expected: String
    ) throws {
        #expect(try source("127.0.0.1:5", header) == expected)
    }

    // Who hides behind its own invention would count as the proxy, with everybody else.
    @Test func `a long invention does not hide what the proxy says`() async throws {
        let service = WebSocketService(environment: ProcessEnvironment([:]))
        let proxy = try #require(NetworkPrefix("127.0.0.1"))
        let listener = try await WebSocketListener(in: service, trustedProxies: [proxy])
        let client = try await ByteEnd(to: listener.address)
        let invention = String(repeating: "6.6.6.6, ", count: 600)
        try await client.write(
            "GET /chute HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "X-Forwarded-For: \(invention)1.2.3.4\r\n"
                + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                + "Sec-WebSocket-Version: 13\r\n\r\n")
        #expect(try await listener.next().source == "1.2.3.4")
    }
}
