import ChuteSystem
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(2)))
struct WebSocketTransportTests {
    @Test(arguments: [
        WebSocketTransport(), WebSocketTransport(listen: "[::]:8080"),
        WebSocketTransport(connect: ["wss://example.org/chute", "ws://[::1]:80"]),
        WebSocketTransport(path: "/a/b", trustedProxies: ["127.0.0.1", "fd00::/8"]),
        WebSocketTransport(tlsCertificate: "both.pem"),
        WebSocketTransport(announced: ["wss://example.org/chute"]),
    ])
    func `settings that mean something are taken`(transport: WebSocketTransport) throws {
        try transport.check()
    }

    @Test(arguments: [
        WebSocketTransport(listen: "8080"), WebSocketTransport(path: "chute"),
        WebSocketTransport(path: "/a b"), WebSocketTransport(path: "/a?b"),
        WebSocketTransport(connect: ["example.org:80"]),
        WebSocketTransport(connect: ["http://example.org/"]),
        WebSocketTransport(trustedProxies: ["proxy"]), WebSocketTransport(tlsKey: "key.pem"),
        WebSocketTransport(announced: ["example.org"]),
    ])
    func `settings that mean nothing are refused`(transport: WebSocketTransport) {
        let error = #expect(throws: ChuteError.self) { try transport.check() }
        #expect(error?.code == .invalid)
    }

    @Test func `it dials URLs of WebSockets and nothing else`() {
        let transport = WebSocketTransport()
        for address in ["ws://a/", "wss://a:1/chute", "WSS://a"] {
            #expect(transport.canDial(address))
        }
        for address in ["a:4040", "http://a/", "lan://[fe80::1%eth0]:1", ""] {
            #expect(!transport.canDial(address))
        }
    }

    @Test func `a development identity has nothing to do with what is beyond this host`() throws {
        var near = WebSocketTransport(listen: "127.0.0.1:0", connect: ["ws://localhost:1/"])
        try near.stayLocal()
        #expect(near.canDial("ws://127.0.0.1:1/") && !near.canDial("ws://example.org/"))
        for far in [
            WebSocketTransport(listen: "[::]:0"),
            WebSocketTransport(connect: ["wss://example.org/"]),
        ] {
            var far = far
            let error = #expect(throws: ChuteError.self) { try far.stayLocal() }
            #expect(error?.code == .notLocal)
        }
    }

    @Test func `a failure says what to do`() throws {
        let url = try #require(WebSocketURL("wss://example.org/chute"))
        for (kind, words) in [
            (WebSocketError.Kind.status(404), ["/chute"]), (.status(502), ["behind"]),
            (.status(200), ["Upgrade", "Connection"]), (.status(301), ["leads to"]),
            (.status(403), ["login"]), (.unreachable, ["running", "wss://example.org/chute"]),
            (.timedOut, ["firewalls"]), (.untrusted, ["SSL_CERT_FILE"]), (.tls, ["ws://"]),
            (.proxy, ["no_proxy", "example.org"]), (.notWebSocket, ["ws or wss"]),
        ] {
            let sentence = WebSocketWords.sentence(
                for: WebSocketError(kind, "what is known"), dialling: url)
            #expect(sentence.hasPrefix("what is known: "))
            for word in words { #expect(sentence.contains(word), "\(sentence)") }
        }
        let error = WebSocketError(.certificate, "a.pem: gone")
        #expect(WebSocketWords.sentence(forServer: error).contains("tls_certificate"))
    }

    /// What a transport tells its host.
    private struct Told: Sendable {
        let reports = Mailbox<TransportHost.Report>()

        func host() -> TransportHost {
            TransportHost(
                transport: "websocket", diagnostics: Diagnostics { _, _ in },
                tell: { [reports] in reports.post($0) },
                makeDiscoveries: { AsyncStream { $0.finish() } }, network: NetworkChanges())
        }

        /// The next state that is like this.
        func state(_ isIt: (TransportState) -> Bool) async throws -> TransportState {
            while true {
                for report in await reports.next() {
                    if case .state(let state) = report, isIt(state) { return state }
                    if case .accepted(let descriptor, _, _) = report {
                        _ = FileDescriptor(owning: descriptor)
                    }
                }
                try Task.checkCancellation()
            }
        }
    }

    private func running(
        _ transport: WebSocketTransport, _ body: (Told) async throws -> Void
    ) async throws {
        let told = Told()
        let task = Task { await transport.run(told.host()) }
        let result: Result<Void, any Error>
        do { result = .success(try await body(told)) } catch { result = .failure(error) }
        task.cancel()
        await task.value
        try result.get()
    }

    @Test func `a port that is taken is waited for`() async throws {
        let other = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        let address = other.address.description
        let held = Held(other.socket())
        try await running(WebSocketTransport(listen: address)) { told in
            let state = try await told.state { _ in true }
            guard case .waiting(let why) = state else { throw NeverHappened(what: "\(state)") }
            #expect(why.contains(address) && why.contains("[transports.websocket]"))
            held.letGo()
            let running = try await told.state { if case .running = $0 { true } else { false } }
            #expect(running == .running("ws://\(address)/chute"))
        }
    }

    private final class Held: Sendable {
        private let descriptor: Mutex<FileDescriptor?>
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = Mutex(descriptor) }
        func letGo() { descriptor.withLock { $0 = nil } }
    }

    @Test func `a certificate that is missing is waited for, and a renewed one is shown`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("shown.pem")
            func show(_ certificate: TestCertificate) throws {
                var both: [UInt8] = []
                for file in [certificate.certificate, certificate.key] {
                    let opened = try FileDescriptor.open(file, FileDescriptor.readOnly)
                    both += try opened.read(count: 64 << 10, at: 0)
                }
                let shown = try FileDescriptor.open(
                    folder.appending("next.pem"), FileDescriptor.readWriteCreate)
                try shown.write(both, at: 0)
                try Folder(at: folder).rename("next.pem", to: "shown.pem")
            }
            let transport = WebSocketTransport(listen: "127.0.0.1:0", tlsCertificate: path)
            try await running(transport) { told in
                let state = try await told.state { _ in true }
                guard case .waiting(let why) = state else { throw NeverHappened(what: "\(state)") }
                #expect(why.contains("shown.pem") && why.contains("tls_certificate"))
                let first = try await TestCertificate(in: folder, name: "first")
                try show(first)
                let running = try await told.state { if case .running = $0 { true } else { false } }
                guard case .running(let words?) = running, let url = WebSocketURL(words) else {
                    throw NeverHappened(what: "\(running)")
                }
                let client = WebSocketService(
                    environment: ProcessEnvironment(["SSL_CERT_FILE": first.certificate]))
                _ = try await client.connect(to: url)
                let second = try await TestCertificate(in: folder, name: "second")
                try show(second)
                let other = WebSocketService(
                    environment: ProcessEnvironment(["SSL_CERT_FILE": second.certificate]))
                try await eventually("the second certificate is shown") {
                    do { _ = try await other.connect(to: url) } catch let error as WebSocketError {
                        guard error.kind == .untrusted else { throw error }
                        return false
                    }
                    return true
                }
            }
        }
    }

    @Test func `strangers who only connect keep nobody out`() async throws {
        try await running(WebSocketTransport(listen: "127.0.0.1:0")) { told in
            let running = try await told.state { if case .running = $0 { true } else { false } }
            guard case .running(let words?) = running, let url = WebSocketURL(words) else {
                throw NeverHappened(what: "\(running)")
            }
            var strangers: [ByteEnd] = []
            for _ in 0..<30 { strangers.append(try await ByteEnd(to: url.address)) }
            // Those beyond the limit of one source are hung up on at once.
            var ended = 0
            for stranger in strangers[16...] where try await stranger.read().isEmpty { ended += 1 }
            #expect(ended == 14)
            strangers.first?.close()
            // A place is free again.
            try await eventually("somebody is let in") {
                do {
                    _ = try await WebSocketService.shared.connect(to: url)
                } catch is WebSocketError { return false }
                return true
            }
        }
    }
}
