import Glibc

/// What serves connections that were accepted elsewhere: WebSockets at one path.
///
/// Those that are open stay when the server goes.
package final class WebSocketServer: Sendable {
    /// Called on the service's thread, and must not block: the end of a pair whose other end is
    /// the WebSocket, and where it comes from.
    package typealias Accepted = @Sendable (consuming FileDescriptor, String) -> Void

    private let service: WebSocketService
    private let path: String
    private let trustedProxies: [NetworkPrefix]
    private let accepted: Accepted
    private let hostNumber: Int?

    private init(
        _ service: WebSocketService, _ path: String, _ trustedProxies: [NetworkPrefix],
        _ hostNumber: Int?, _ accepted: @escaping Accepted
    ) {
        self.service = service
        self.path = path
        self.trustedProxies = trustedProxies
        self.hostNumber = hostNumber
        self.accepted = accepted
    }

    /// Opens a server; throws where the certificate cannot be used.
    ///
    /// Whoever asks for another path than `path` gets 404. What `X-Forwarded-For` says is
    /// believed of `trustedProxies` alone.
    package static func open(
        in service: WebSocketService = .shared, path: String,
        certificate: ServerCertificate? = nil, trustedProxies: [NetworkPrefix] = [],
        accepted: @escaping Accepted
    ) async throws(WebSocketError) -> WebSocketServer {
        var number: Int?
        if let certificate {
            let result = await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<Int, WebSocketError>, Never>) in
                do throws(WebSocketError) {
                    try service.perform { loop in
                        continuation.resume(
                            returning: Result { () throws(WebSocketError) in
                                try loop.addHost(certificate)
                            })
                    }
                } catch { continuation.resume(returning: .failure(error)) }
            }
            number = try result.get()
        }
        return WebSocketServer(service, path, trustedProxies, number, accepted)
    }

    deinit {
        guard let hostNumber else { return }
        // Where the service has ended, the host has too.
        try? service.perform { $0.leaveHost(hostNumber) }
    }

    /// Serves an accepted connection: a WebSocket within the time for handshakes, or closed.
    ///
    /// `settled` is called once, when it is one or the other, on any thread.
    package func adopt(
        _ socket: consuming FileDescriptor, from peer: SocketAddress,
        settled: @escaping @Sendable () -> Void
    ) {
        let acceptance = WebSocketAcceptance(
            path: path, trustedProxies: trustedProxies, peer: peer, hostNumber: hostNumber,
            accepted: accepted, settled: settled)
        let raw = socket.release()
        do throws(WebSocketError) {
            try service.perform { $0.accept(FileDescriptor(owning: raw), acceptance) }
        } catch {
            close(raw)
            settled()
        }
    }
}

/// A connection that was accepted, on its way to a WebSocket.
struct WebSocketAcceptance: Sendable {
    let path: String
    let trustedProxies: [NetworkPrefix]
    let peer: SocketAddress
    let hostNumber: Int?
    let accepted: WebSocketServer.Accepted
    let settled: @Sendable () -> Void
}
