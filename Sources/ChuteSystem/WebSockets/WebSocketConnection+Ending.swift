import CWebSockets
import Glibc

extension WebSocketConnection {
    /// The WebSocket is closed. What arrived still goes to the pair.
    func outerIsGone() {
        outer = nil
        guard isOpen else { return hasEnded() }
        guard let inner else { return hasEnded() }
        if unsent.isEmpty {
            end = nil
            kill(inner)
        } else {
            lws_rx_flow_control(inner, 0)
            lws_callback_on_writable(inner)
        }
    }

    /// The pair's other end is closed. What it wrote before still goes to the WebSocket.
    func innerIsGone() {
        inner = nil
        guard let outer else { return hasEnded() }
        unsent = []
        lws_rx_flow_control(outer, 1)
        mayRead = true
        lws_callback_on_writable(outer)
    }

    /// Nothing is open any more, or never was.
    func hasEnded() {
        end = nil
        settle(WebSocketError(.closed, "the connection was closed before the handshake was done"))
        loop.remove(self)
    }

    /// Closes what has begun.
    func giveUp() {
        if let outer { kill(outer) }
    }

    /// What a failed attempt to connect means.
    func failure(_ socket: OpaquePointer, _ reason: String) -> WebSocketError {
        guard case .dialled(_, let way) = origin else { return WebSocketError(.closed, reason) }
        let status = Int(lws_http_client_http_response(socket))
        let host = way.url.authority
        if let certificateProblem {
            return WebSocketError(
                .untrusted, "the certificate of \(host) is not trusted: \(certificateProblem)")
        }
        if let proxy = way.proxy, reason.contains("proxy") {
            return WebSocketError(.proxy, "the proxy \(proxy) does not connect to \(host)")
        }
        if reason == "Unable to connect" {
            return WebSocketError(.unreachable, "nobody takes connections at \(way.address)")
        }
        if status == 101 {
            return WebSocketError(
                .notWebSocket, "\(host) answers the handshake wrongly (\(reason))")
        }
        if status != 0 {
            return WebSocketError(.status(status), "\(host) answers \(status)")
        }
        if way.url.isSecure, reason.contains("SSL") || reason.contains("ssl") {
            return WebSocketError(.tls, "\(host) and this device agree on no TLS (\(reason))")
        }
        return WebSocketError(.notWebSocket, "\(host) gives no answer of a web server (\(reason))")
    }
}
