import ChuteSystem
import Glibc
import TestSupport
import Testing

/// TLS outside: the certificate of the server and the trust of the client.
@Suite(.timeLimit(.minutes(2)))
struct WebSocketTLSTests {
    private let server = WebSocketService(environment: ProcessEnvironment([:]))

    private func client(trusting file: BytePath?) -> WebSocketService {
        WebSocketService(
            environment: ProcessEnvironment(file.map { ["SSL_CERT_FILE": $0] } ?? [:]))
    }

    private func url(_ listener: WebSocketListener, host: String = "localhost") -> WebSocketURL {
        WebSocketURL(
            isSecure: true, address: SocketAddress(host: host, port: listener.address.port),
            path: "/chute")
    }

    private func failure(
        _ service: WebSocketService, _ url: WebSocketURL
    ) async throws -> WebSocketError {
        do { _ = try await service.connect(to: url) } catch let error as WebSocketError {
            return error
        }
        throw NeverHappened(what: "a failure")
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `a certificate that is trusted for the host opens`(host: String) async throws {
        try await withTemporaryDirectory { folder in
            let certificate = try await TestCertificate(in: folder)
            let listener = try await WebSocketListener(
                in: server, certificate: certificate.forServer)
            let service = client(trusting: certificate.certificate)
            let client = try ByteEnd(try await service.connect(to: url(listener, host: host)))
            let other = try await listener.next().end
            var generator = SeededGenerator(seed: 4)
            let sent = generator.bytes(10 << 20)
            async let written: Void = {
                try await client.write(sent)
                client.close()
            }()
            #expect(try await other.readToEnd() == sent)
            try await written
        }
    }

    @Test func `a certificate that nobody vouches for is refused, and why is said`() async throws {
        try await withTemporaryDirectory { folder in
            let certificate = try await TestCertificate(in: folder)
            let other = try await TestCertificate(in: folder, name: "other")
            let listener = try await WebSocketListener(
                in: server, certificate: certificate.forServer)
            for trusted in [nil, other.certificate] {
                let error = try await failure(client(trusting: trusted), url(listener))
                #expect(error.kind == .untrusted, "\(error)")
                #expect(error.detail.contains("self"), "\(error)")  // self-signed
            }
            try await eventually("settled") { listener.settledCount == 2 }
        }
    }

    @Test func `a certificate for another host is refused`() async throws {
        try await withTemporaryDirectory { folder in
            let certificate = try await TestCertificate(in: folder, hosts: "DNS:example.org")
            let listener = try await WebSocketListener(
                in: server, certificate: certificate.forServer)
            for host in ["localhost", "127.0.0.1"] {
                let service = client(trusting: certificate.certificate)
                let error = try await failure(service, url(listener, host: host))
                #expect(error.kind == .untrusted, "\(error)")
                #expect(error.detail.contains("mismatch"), "\(error)")
            }
        }
    }

    @Test func `each of several servers shows its own certificate`() async throws {
        try await withTemporaryDirectory { folder in
            var listeners: [(WebSocketListener, TestCertificate)] = []
            for name in ["a", "b", "c"] {
                let certificate = try await TestCertificate(in: folder, name: name)
                listeners.append(
                    (
                        try await WebSocketListener(in: server, certificate: certificate.forServer),
                        certificate
                    ))
            }
            for (listener, certificate) in listeners {
                let service = client(trusting: certificate.certificate)
                _ = try await service.connect(to: url(listener))
                _ = try await listener.next()
            }
        }
    }

    @Test func `a connection outlives the server that took it`() async throws {
        try await withTemporaryDirectory { folder in
            let certificate = try await TestCertificate(in: folder)
            var listener: WebSocketListener? = try await WebSocketListener(
                in: server, certificate: certificate.forServer)
            let service = client(trusting: certificate.certificate)
            let client = try ByteEnd(
                try await service.connect(to: url(try #require(listener))))
            let other = try await #require(listener).next().end
            listener = nil
            try await client.write("still")
            #expect(try await other.read(exactly: 5) == Array("still".utf8))
        }
    }

    @Test func `plain text to a server with TLS ends, and the other way round`() async throws {
        try await withTemporaryDirectory { folder in
            let certificate = try await TestCertificate(in: folder)
            let secure = try await WebSocketListener(in: server, certificate: certificate.forServer)
            let plain = try await WebSocketListener(in: server)
            let service = client(trusting: certificate.certificate)
            let first = try await failure(service, secure.url)
            #expect(first.kind == .notWebSocket, "\(first)")
            let second = try await failure(service, url(plain))
            #expect(second.kind == .tls, "\(second)")
            try await eventually("closed") { try await server.connectionCount() == 0 }
        }
    }

    @Test func `a trust file that is none is said`() async throws {
        try await withTemporaryDirectory { folder in
            let service = client(trusting: folder.appending("nothing.pem"))
            let error = try await failure(
                service, try #require(WebSocketURL("wss://127.0.0.1:9/chute")))
            #expect(error.kind == .tls)
            #expect(error.detail.contains("nothing.pem"))
        }
    }

    @Test func `a certificate that cannot be shown is said`() async throws {
        try await withTemporaryDirectory { folder in
            let good = try await TestCertificate(in: folder)
            let other = try await TestCertificate(in: folder, name: "other")
            let absent = folder.appending("absent.pem")
            for (certificate, key, word) in [
                (absent, good.key, "absent.pem: No such file"),
                (good.certificate, absent, "absent.pem: No such file"),
                (good.key, good.key, "server.key is no certificate"),
                (good.certificate, good.certificate, "server.pem is not the key of"),
                (good.certificate, other.key, "other.key is not the key of"),
            ] {
                let error = await #expect(throws: WebSocketError.self) {
                    _ = try await WebSocketServer.open(
                        in: server, path: "/chute",
                        certificate: ServerCertificate(certificate: certificate, key: key)
                    ) { _, _ in }
                }
                #expect(error?.kind == .certificate)
                #expect(error?.detail.contains(word) == true, "\(word): \(error?.detail ?? "")")
            }
        }
    }
}
