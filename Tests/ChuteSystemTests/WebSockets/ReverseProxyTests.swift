import ChuteSystem
import TestSupport
import Testing

/// Through the reverse proxies that people have, with their own time-outs.
@Suite(.timeLimit(.minutes(2)))
struct ReverseProxyTests {
    private let server = WebSocketService(environment: ProcessEnvironment([:]))

    private func withProxy(
        _ kind: ReverseProxy.Kind, trusted: [NetworkPrefix] = [],
        _ body: (ReverseProxy, WebSocketListener, WebSocketService) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let certificate = try await TestCertificate(in: folder)
            let listener = try await WebSocketListener(in: server, trustedProxies: trusted)
            let proxy = try await ReverseProxy(
                kind, in: folder, certificate: certificate, backend: listener.address.port)
            let client = WebSocketService(
                environment: ProcessEnvironment(["SSL_CERT_FILE": certificate.certificate]))
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(proxy, listener, client))
            } catch { result = .failure(error) }
            try await proxy.stop()
            try result.get()
        }
    }

    @Test(arguments: ReverseProxy.Kind.allCases)
    func `bytes pass both ways, and an end is an end`(_ kind: ReverseProxy.Kind) async throws {
        try await withProxy(kind) { proxy, listener, service in
            let url = try #require(WebSocketURL(proxy.url))
            let client = try ByteEnd(try await service.connect(to: url))
            let other = try await listener.next().end
            var generator = SeededGenerator(seed: 6)
            let sent = generator.bytes(20 << 20)
            async let echoed: Void = {
                while true {
                    let bytes = try await other.read(256 << 10)
                    if bytes.isEmpty { return }
                    try await other.write(bytes)
                }
            }()
            async let written: Void = client.write(sent)
            #expect(try await client.read(exactly: sent.count) == sent)
            try await written
            client.close()
            try await echoed
        }
    }

    @Test(arguments: ReverseProxy.Kind.allCases)
    func `who is before the proxy is known if it is trusted`(
        _ kind: ReverseProxy.Kind
    ) async throws {
        for trusted in [[], ["127.0.0.1"]] {
            try await withProxy(kind, trusted: trusted.compactMap { NetworkPrefix($0) }) {
                proxy, listener, service in
                let url = try #require(WebSocketURL(proxy.url))
                _ = try await service.connect(to: url)
                let source = try await listener.next().source
                // Both are this host: the proxy's own address comes with its port.
                #expect((source == "127.0.0.1") == !trusted.isEmpty, "\(source)")
            }
        }
    }

    @Test(arguments: ReverseProxy.Kind.allCases)
    func `a restart ends connections at both ends, and lets new ones in`(
        _ kind: ReverseProxy.Kind
    ) async throws {
        try await withProxy(kind) { proxy, listener, service in
            let url = try #require(WebSocketURL(proxy.url))
            let client = try ByteEnd(try await service.connect(to: url))
            let other = try await listener.next().end
            try await client.write("before")
            #expect(try await other.read(exactly: 6).count == 6)
            try await proxy.stop()
            #expect(try await client.readToEnd().isEmpty)
            #expect(try await other.readToEnd().isEmpty)
            try await proxy.start()
            let again = try ByteEnd(try await service.connect(to: url))
            try await again.write("after")
            #expect(try await listener.next().end.read(exactly: 5).count == 5)
        }
    }

    @Test(arguments: ReverseProxy.Kind.allCases)
    func `a proxy with nothing behind it says so`(_ kind: ReverseProxy.Kind) async throws {
        try await withProxy(kind) { proxy, listener, service in
            let url = try #require(WebSocketURL(proxy.url))
            listener.stop()
            try await eventually("\(kind) finds nobody") {
                do { _ = try await service.connect(to: url) } catch let error as WebSocketError {
                    return error.kind == .status(502) || error.kind == .status(503)
                }
                return false
            }
        }
    }
}
