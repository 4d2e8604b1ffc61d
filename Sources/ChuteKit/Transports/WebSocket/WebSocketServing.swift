import ChuteSystem
import Synchronization

/// The listening side of a WebSocket transport, while it runs.
///
/// ## Concurrency
/// The listener's task hands connections to the server of the moment, which a second task
/// exchanges when the certificate has changed; what both know is under the lock.
final class WebSocketServing: Sendable {
    private struct State {
        var server: WebSocketServer?
        var stamp: [FileFingerprint]?
        /// Handshakes of strangers by their own address, and of those that proxies pass on.
        var direct = UnprovedConnections()
        var proxied = UnprovedConnections(limits: .init(whole: 64, perSource: 64))
    }

    private let transport: WebSocketTransport
    private let host: TransportHost
    private let proxies: [NetworkPrefix]
    private let certificate: ServerCertificate?
    private let state = Mutex(State())
    private let look = WakeSignal()

    private static let remedy = "set another listen in [transports.websocket]"

    init(_ transport: WebSocketTransport, _ host: TransportHost) {
        self.transport = transport
        self.host = host
        proxies = transport.trustedProxies.compactMap { NetworkPrefix($0) }
        certificate = transport.tlsCertificate.map {
            ServerCertificate(certificate: $0, key: transport.tlsKey ?? $0)
        }
    }

    /// Listens until cancelled; `listening` is told each address at which it does.
    func run(at address: String, listening: @escaping @Sendable (SocketAddress) -> Void) async {
        guard await openServer() else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followCertificate() }
            let listener = TCPListener(
                address: address, portRange: 0, remedy: Self.remedy,
                isWelcome: { [transport] peer, own in
                    guard transport.isLocalOnly else { return true }
                    return peer?.isOfThisLink == true && own?.isOfThisLink == true
                })
            await listener.run { own in
                listening(own)
                self.host.report(.running(self.words(for: own)))
            } trouble: { why in
                self.host.report(.waiting(why))
            } accepted: { connection in
                self.serve(connection)
            }
            group.cancelAll()
        }
        state.withLock { $0.server = nil }
    }

    private func words(for own: SocketAddress) -> String {
        let scheme = certificate == nil ? "ws" : "wss"
        return "\(scheme)://\(own)\(transport.path)"
    }

    /// Opens a server, again and again where its certificate cannot be used yet; `false` once
    /// cancelled.
    private func openServer() async -> Bool {
        var pause = Duration.milliseconds(200)
        while !Task.isCancelled {
            do {
                try await exchangeServer()
                return true
            } catch {
                host.report(.waiting(WebSocketWords.sentence(forServer: error)))
            }
            do { try await Task.pause(for: pause) } catch { return false }
            pause = min(pause * 2, .seconds(10))
        }
        return false
    }

    private func exchangeServer() async throws(WebSocketError) {
        let stamp = stamp()
        let server = try await WebSocketServer.open(
            path: transport.path, certificate: certificate, trustedProxies: proxies
        ) { [host, name = transport.name] descriptor, source in
            host.accept(
                ConnectedStream(
                    descriptor: descriptor, address: source, transport: name, isDirect: false))
        }
        state.withLock { ($0.server, $0.stamp) = (server, stamp) }
    }

    /// What the files of the certificate look like; `nil` where there is none to look at.
    private func stamp() -> [FileFingerprint]? {
        guard let certificate else { return nil }
        // One that cannot be looked at cannot be read either, which is said where it is.
        return try? [certificate.certificate, certificate.key].map {
            FileFingerprint(try FileStatus.of($0, followingLinks: true))
        }
    }

    /// Shows a certificate that was renewed from the next connection on.
    private func followCertificate() async {
        while !Task.isCancelled {
            await look.wait()
            guard let stamp = stamp(), state.withLock({ $0.stamp }) != stamp else { continue }
            do {
                try await exchangeServer()
            } catch {
                // The former one stays in use; said once for each change of the files.
                state.withLock { $0.stamp = stamp }
                host.diagnostics.warning(
                    "websocket: the new certificate is not used: "
                        + WebSocketWords.sentence(forServer: error))
            }
        }
    }

    private func serve(_ connection: consuming Socket.Accepted) {
        guard let peer = connection.peer else { return }  // it is gone again
        if certificate != nil { look.raise() }
        let isProxy = proxies.contains { $0.contains(peer) }
        let source = peer.description
        let server = state.withLock { state -> WebSocketServer? in
            let isWelcome =
                isProxy ? state.proxied.begin(source) : state.direct.begin(source)
            return isWelcome ? state.server : nil
        }
        guard let server else { return }
        server.adopt(connection.socket(), from: peer) { [weak self] in
            self?.state.withLock { state in
                if isProxy { state.proxied.end(source) } else { state.direct.end(source) }
            }
        }
    }
}
