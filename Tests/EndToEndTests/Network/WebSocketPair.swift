import ChuteSystem
import TestSupport

/// Two homes that reach each other by WebSockets alone: the pi takes them, the laptop dials.
enum WebSocketPair {
    /// Calls `body` with both set up, and the port at which the pi takes WebSockets. The laptop
    /// dials what `dial` says.
    static func with(_ body: (AgentPair, _ port: UInt16) async throws -> Void) async throws {
        try await AgentPair.with { pair in
            for home in [pair.laptop, pair.pi] {
                try home.edit("\n[network]\n", "\n[network]\ntransports = [\"websocket\"]\n")
            }
            let port = try FreePort.pair().0.number
            try pair.pi.edit(
                "\n[transports.websocket]\n",
                "\n[transports.websocket]\nlisten = \"127.0.0.1:\(port)\"\n"
                    + "trusted_proxies = [\"127.0.0.1\"]\n")
            try await body(pair, port)
        }
    }

    static func dial(_ url: String, from home: AgentHome) throws {
        try home.edit(
            "\n[transports.websocket]\n", "\n[transports.websocket]\nconnect = [\"\(url)\"]\n")
    }

    /// Calls `body` with the pi, the laptop, and a proxy between them that runs meanwhile.
    static func with(
        through kind: ReverseProxy.Kind,
        _ body: (_ pi: AgentHome, _ laptop: AgentHome, ReverseProxy) async throws -> Void
    ) async throws {
        try await with { pair, port in
            let folder = pair.key.parent
            let certificate = try await TestCertificate(in: folder)
            let proxy = try await ReverseProxy(
                kind, in: folder, certificate: certificate, backend: port)
            try dial(proxy.url, from: pair.laptop)
            var laptop = pair.laptop
            laptop.variables["SSL_CERT_FILE"] = certificate.certificate
            let result: Result<Void, any Error>
            do {
                try await body(pair.pi, laptop, proxy)
                result = .success(())
            } catch { result = .failure(error) }
            try await proxy.stop()
            try result.get()
        }
    }
}
