import ChuteSystem
import TestSupport
import Testing

/// Through an HTTP proxy that the environment names.
@Suite(.timeLimit(.minutes(2)))
struct ConnectProxyTests {
    private let server = WebSocketService(environment: ProcessEnvironment([:]))

    private func client(
        _ proxy: ConnectProxy, credentials: String = "", _ more: [String: BytePath] = [:]
    ) -> WebSocketService {
        let value = BytePath("http://\(credentials)\(proxy.address)")
        let variables = more.merging(["http_proxy": value, "https_proxy": value]) { $1 }
        return WebSocketService(environment: ProcessEnvironment(variables))
    }

    /// A name that only the proxy knows.
    private func url(_ listener: WebSocketListener, isSecure: Bool = false) -> WebSocketURL {
        WebSocketURL(
            isSecure: isSecure,
            address: SocketAddress(host: "chute.invalid", port: listener.address.port),
            path: "/chute")
    }

    @Test func `a connection is asked for by name, and passes`() async throws {
        let listener = try await WebSocketListener(in: server)
        let proxy = try ConnectProxy()
        let service = client(proxy)
        let client = try ByteEnd(try await service.connect(to: url(listener)))
        let other = try await listener.next().end
        var generator = SeededGenerator(seed: 5)
        let sent = generator.bytes(5 << 20)
        async let written: Void = client.write(sent)
        #expect(try await other.read(exactly: sent.count) == sent)
        try await written
        let asked = try #require(proxy.requests.first)
        #expect(asked.hasPrefix("CONNECT chute.invalid:\(listener.address.port) HTTP/1.1\r\n"))
        #expect(!asked.lowercased().contains("authorization"))
        #expect(proxy.passed.count > sent.count)
    }

    @Test func `TLS is spoken with the other end, not with the proxy`() async throws {
        try await withTemporaryDirectory { folder in
            let certificate = try await TestCertificate(in: folder, hosts: "DNS:chute.invalid")
            let listener = try await WebSocketListener(
                in: server, certificate: certificate.forServer)
            let proxy = try ConnectProxy()
            let service = client(proxy, ["SSL_CERT_FILE": certificate.certificate])
            let client = try ByteEnd(
                try await service.connect(to: url(listener, isSecure: true)))
            try await client.write("a word that no proxy reads")
            #expect(try await listener.next().end.read(exactly: 26).count == 26)
            let passed = String(decoding: proxy.passed, as: UTF8.self)
            #expect(!passed.contains("word") && !passed.contains("/chute"))
        }
    }

    @Test func `credentials are shown`() async throws {
        let listener = try await WebSocketListener(in: server)
        let proxy = try ConnectProxy()
        _ = try await client(proxy, credentials: "me:secret@").connect(to: url(listener))
        let asked = try #require(proxy.requests.first).lowercased()
        #expect(asked.contains("proxy-authorization: basic bwu6c2vjcmv0\r\n"))
    }

    @Test(arguments: [
        "HTTP/1.1 407 Proxy Authentication Required", "HTTP/1.1 502 Bad Gateway",
        "HTTP/1.1 403 Forbidden", "SSH-2.0-OpenSSH",
    ])
    func `a proxy that refuses is named`(answer: String) async throws {
        let listener = try await WebSocketListener(in: server)
        let proxy = try ConnectProxy(answer: answer)
        let error = await #expect(throws: WebSocketError.self) {
            _ = try await client(proxy, credentials: "me:secret@").connect(to: url(listener))
        }
        #expect(error?.kind == .proxy)
        #expect(error?.detail.contains("\(proxy.address)") == true)
        #expect(error?.detail.contains("secret") == false)
        #expect(listener.settledCount == 0)
    }

    @Test func `a proxy that is not there is unreachable`() async throws {
        let service = WebSocketService(
            environment: ProcessEnvironment(["http_proxy": "127.0.0.1:9"]))
        let error = await #expect(throws: WebSocketError.self) {
            _ = try await service.connect(to: try #require(WebSocketURL("ws://chute.invalid/")))
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.detail.contains("127.0.0.1:9") == true)
    }

    @Test func `who is excepted is dialled without the proxy`() async throws {
        let listener = try await WebSocketListener(in: server)
        let proxy = try ConnectProxy()
        _ = try await client(proxy).connect(to: listener.url)
        #expect(proxy.requests.isEmpty)
    }
}
