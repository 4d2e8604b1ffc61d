public import ChuteSystem

/// Streams over WebSockets: through any reverse proxy, and out of networks that let only the web
/// pass. It finds nobody by itself.
///
/// The devices speak TLS with each other inside, as over TCP; whoever passes a WebSocket on learns
/// their public keys and nothing else. A proxy of the environment (`http_proxy`, `https_proxy`,
/// `no_proxy`) is used.
public struct WebSocketTransport: StreamTransport {
    public let name = "websocket"
    public let rank = 2
    /// `host:port` to listen at; `nil` for none.
    public var listen: String?
    /// What is asked for of it; everything else does not exist there.
    public var path: String
    /// URLs that are dialled: `wss://example.org/chute`.
    public var connect: [String]
    /// The certificate that is shown outside, in PEM, with those up to its authority; `nil` for
    /// `ws://`, as behind a proxy. It is read again when the file has changed.
    public var tlsCertificate: BytePath?
    /// The key of that certificate, in PEM; `nil` where it is in the same file.
    public var tlsKey: BytePath?
    /// Addresses, or ranges of them (`10.0.0.0/8`), of proxies that are believed what they say in
    /// `X-Forwarded-For`. Limits on strangers are then for those before the proxy.
    public var trustedProxies: [String]
    /// URLs that members and tickets are told: those of the proxy. `nil` for the addresses where
    /// this listens, unless that is with TLS or behind a proxy.
    public var announced: [String]?
    public var retryPauses: ClosedRange<Duration> = .seconds(1)...(.seconds(60))
    private(set) var isLocalOnly = false

    /// Listens and dials; neither without addresses.
    public init(
        listen: String? = nil, path: String = "/chute", connect: [String] = [],
        tlsCertificate: BytePath? = nil, tlsKey: BytePath? = nil, trustedProxies: [String] = [],
        announced: [String]? = nil
    ) {
        self.listen = listen
        self.path = path
        self.connect = connect
        self.tlsCertificate = tlsCertificate
        self.tlsKey = tlsKey
        self.trustedProxies = trustedProxies
        self.announced = announced
    }

    public func check() throws {
        if let listen {
            guard let address = SocketAddress(listen) else {
                throw ChuteError(.invalid, "\(listen) is not HOST:PORT")
            }
            if isLocalOnly { try address.checkIsLocal() }
        }
        guard WebSocketURL("ws://localhost\(path)")?.path == path, !path.contains("?") else {
            throw ChuteError(.invalid, "\(path) is not the path of a URL, such as /chute")
        }
        // Servers and proxies take such a path for another one.
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard !path.contains("%"), !parts.dropLast().contains(""), !parts.contains("."),
            !parts.contains("..")
        else { throw ChuteError(.invalid, "\(path) has %, //, . or .. in it: take a plain path") }
        for text in connect + (announced ?? []) {
            let url = try url(text)
            if isLocalOnly { try url.address.checkIsLocal() }
        }
        for text in trustedProxies where NetworkPrefix(text) == nil {
            throw ChuteError(
                .invalid, "\(text) is no address and no range of them, such as 10.0.0.0/8")
        }
        if tlsKey != nil, tlsCertificate == nil {
            throw ChuteError(.invalid, "a key without a certificate shows nothing: give both")
        }
    }

    public mutating func stayLocal() throws {
        isLocalOnly = true
        try check()
    }

    public func canDial(_ address: String) -> Bool {
        guard WebSocketURL.isOne(address) else { return false }
        guard isLocalOnly else { return true }
        do { try url(address).address.checkIsLocal() } catch { return false }
        return true
    }

    private func url(_ text: String) throws -> WebSocketURL {
        guard let url = WebSocketURL(text) else {
            throw ChuteError(
                .invalid, "\(text) is not ws://HOST[:PORT]/PATH, nor the same with wss")
        }
        return url
    }

    public func connect(to address: String) async throws -> ConnectedStream {
        let url = try url(address)
        if isLocalOnly { try url.address.checkIsLocal() }
        do {
            let descriptor = try await WebSocketService.shared.connect(
                to: url, staysLocal: isLocalOnly)
            // A proxy may stand there.
            return ConnectedStream(
                descriptor: descriptor, address: url.description, transport: name,
                isDirect: false)
        } catch let error as WebSocketError {
            throw ChuteError(
                .unreachable, WebSocketWords.sentence(for: error, dialling: url),
                isTransient: true, cause: error)
        }
    }

    public func run(_ host: TransportHost) async {
        let place = ListeningPlace()
        await withDiscardingTaskGroup { group in
            if let listen {
                let serving = WebSocketServing(self, host)
                group.addTask {
                    await serving.run(at: listen) { own in
                        place.address.withLock { $0 = own }
                        self.announce(place, host)
                    }
                }
            } else {
                host.report(.running(nil))
            }
            group.addTask {
                for await _ in host.networkChanges() { self.announce(place, host) }
            }
        }
    }

    /// Says where others find this device: what is set; else the addresses of all interfaces but
    /// loopback where it listens, since no certificate is for those and a proxy's is not known.
    private func announce(_ place: ListeningPlace, _ host: TransportHost) {
        if let announced { return host.announce(announced) }
        guard tlsCertificate == nil, trustedProxies.isEmpty, listen != nil else {
            return host.announce([])
        }
        guard let own = place.address.withLock({ $0 }) else { return }
        let addresses: [SocketAddress]
        if ["::", "0.0.0.0"].contains(own.host) {
            addresses = Socket.interfaceAddresses()
                .filter {
                    !$0.host.hasPrefix("fe80:") && (own.host == "::" || !$0.host.contains(":"))
                }
                .map { SocketAddress(host: $0.host, port: own.port) }
        } else {
            addresses = [own]
        }
        host.announce(
            addresses.map {
                WebSocketURL(isSecure: false, address: $0, path: path).description
            })
    }
}
