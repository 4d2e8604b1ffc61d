package import ChuteSystem

/// `[transports.websocket]`.
package struct WebSocketSettings: Hashable, Sendable {
    /// Where it takes connections, behind a reverse proxy or by itself; `nil` for nowhere.
    package var listen: SocketAddress?
    /// The path of the URL at which it does.
    package var path = standardPath
    /// `ws://` and `wss://` URLs that are dialled.
    package var connect: [String] = []
    /// For `wss://` without a reverse proxy.
    package var tlsCertificate: BytePath?
    package var tlsKey: BytePath?
    /// Reverse proxies whose word on where a connection comes from counts: addresses and networks.
    package var trustedProxies: [String] = []

    package init() {}

    package static let standardPath = "/chute"
}
