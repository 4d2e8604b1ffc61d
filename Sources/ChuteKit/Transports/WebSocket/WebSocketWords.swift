import ChuteSystem

/// What goes wrong with a WebSocket, in sentences that say what to do.
enum WebSocketWords {
    /// Why a URL cannot be reached.
    static func sentence(for error: WebSocketError, dialling url: WebSocketURL) -> String {
        "\(error.detail): \(remedy(for: error, url))"
    }

    private static func remedy(for error: WebSocketError, _ url: WebSocketURL) -> String {
        switch error.kind {
        case .unreachable: "check that the other side is running, and the host and port of \(url)"
        case .timedOut: "check the host and port of \(url), and the firewalls on the way"
        case .status(let status): remedy(for: status, url)
        case .notWebSocket:
            "check that a Chute, or a proxy that passes on to one, is at \(url), and whether it "
                + "is ws or wss"
        case .untrusted:
            "use the name that the certificate is for, or have this device trust its authority "
                + "(update-ca-certificates, or SSL_CERT_FILE)"
        case .tls: "use ws:// if it speaks no TLS there"
        case .proxy:
            "check http_proxy and https_proxy in the environment, or put \(url.address.host) "
                + "into no_proxy"
        case .certificate, .library, .closed: "it is tried again"
        }
    }

    private static func remedy(for status: Int, _ url: WebSocketURL) -> String {
        switch status {
        case 404: "check that the path \(url.path) is the one the other device listens at"
        case 502, 503, 504:
            "its proxy does not reach the device behind it: start that one, and check the proxy's "
                + "backend address"
        case 401, 403, 407: "have its proxy let \(url.path) pass without a login"
        case 300..<400: "use the URL that it leads to"
        case 429: "it has too many requests and takes more later"
        default:
            "its proxy does not upgrade to a WebSocket: have it pass on the headers Upgrade and "
                + "Connection, in HTTP/1.1"
        }
    }

    /// Why nobody can connect here.
    static func sentence(forServer error: WebSocketError) -> String {
        switch error.kind {
        case .certificate:
            "\(error.detail): correct tls_certificate and tls_key in [transports.websocket]"
        default: "\(error.detail): it is tried again"
        }
    }
}
