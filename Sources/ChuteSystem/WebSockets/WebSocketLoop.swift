import COpenSSL
import CWebSockets
import Glibc
import Synchronization

/// The context of libwebsockets and all that lives in it.
///
/// Not `Sendable`: one thread owns it, that of `run`. The library's callbacks come on it.
final class WebSocketLoop {
    /// Where to connect to, and how.
    struct Way: Sendable {
        let url: WebSocketURL
        /// In numbers: that of the proxy where there is one.
        let address: SocketAddress
        let proxy: HTTPProxy?
    }

    let limits: WebSocketLimits
    /// Freed by `destroy`.
    private(set) var context: OpaquePointer?
    /// Room for a message and what the library puts before it.
    let buffer: UnsafeMutableRawBufferPointer
    private let protocols: UnsafeMutablePointer<lws_protocols>

    /// By tokens that are never given twice, so that a late callback of a closed one finds nobody.
    /// The inner end has the token that follows.
    private(set) var connections: [UInt: WebSocketConnection] = [:]
    private var lastToken: UInt = 0

    /// The host of all servers without TLS, and of all inner ends. Never destroyed: connections
    /// that came to another server host are bound to it as soon as their header is read.
    private(set) var plainHost: OpaquePointer?
    /// The hosts of servers with TLS, by number.
    private var secureHosts: [Int: SecureHost] = [:]
    private var lastHost = 0
    /// Hosts for connections to elsewhere, by their proxy.
    var clientHosts: [String: OpaquePointer] = [:]
    let environment: ProcessEnvironment
    /// For all connections to elsewhere; made with the first.
    var trust: OuterTrust?
    /// Taken by the host that is being made, and why it was not.
    var certificateToLoad: (certificate: ServerCertificate, failure: WebSocketError?)?

    /// Whether there was a context. Each that prepares TLS takes numbers for all of them anew,
    /// under which those before then find nothing.
    private static let hasFirst = Mutex(false)

    private struct SecureHost {
        let raw: OpaquePointer
        /// Connections that came to it.
        var count = 0
        var isLeft = false
    }

    /// Makes the context; throws where the system has too little. Calls `lws_create_context`.
    init(_ limits: WebSocketLimits, _ environment: ProcessEnvironment) throws(WebSocketError) {
        OpenSSLError.clearQueue()  // before the library's own first call into OpenSSL
        lws_set_log_level(0, nil)
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN
        info.options =
            UInt64(LWS_SERVER_OPTION_EXPLICIT_VHOSTS)
            | UInt64(LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME)
        info.timeout_secs = UInt32(clamping: limits.handshake.components.seconds)
        info.max_http_header_data = 8192  // some proxies add much
        info.pt_serv_buf_size = UInt32(limits.messageSize + 4096)
        // Each connection has two ends. The library's tables would else have room for as many
        // descriptors as the process may open, a million here and there.
        info.fd_limit_per_thread = UInt32(
            max(min(limits.connections * 2 + 64, sysconf(Int32(_SC_OPEN_MAX)) - 64), 16))
        precondition(chute_lws_pre() >= MaskedFrame.headerLimit)
        let capacity = chute_lws_pre() + (limits.messageSize + 7) / 8 * 8
        buffer = .allocate(byteCount: capacity, alignment: 16)
        protocols = Self.makeProtocols(limits.messageSize)
        self.limits = limits
        self.environment = environment
        info.user = Unmanaged.passUnretained(self).toOpaque()
        Self.hasFirst.withLock { hasFirst in
            if !hasFirst { info.options |= UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT) }
            context = lws_create_context(&info)
            if context != nil { hasFirst = true }
        }
        guard context != nil else {
            throw WebSocketError(.library, "too little memory or too few descriptors")
        }
        plainHost = makeHost(port: CONTEXT_PORT_NO_LISTEN_SERVER) { _ in }
        guard plainHost != nil else {
            destroy()
            throw WebSocketError(.library, "no virtual host")
        }
    }

    /// Serves until it is asked to end, then closes everything. Calls `lws_service`.
    func run(_ jobs: WebSocketJobs) {
        while let next = jobs.take() {
            for job in next { job(self) }
            destroyLeftHosts()
            guard lws_service(context, 0) >= 0 else { break }
        }
        for job in jobs.hasEnded() { job(self) }
        destroy()
    }

    /// Closes everything. Calls `lws_context_destroy`.
    func destroy() {
        if let context { lws_context_destroy(context) }
        context = nil
        for connection in connections.values { connection.hasEnded() }
    }

    deinit {
        buffer.deallocate()
        protocols.deallocate()
    }

    /// Gives a connection its token.
    func add(_ make: (UInt) -> WebSocketConnection) -> WebSocketConnection {
        lastToken += 2
        let connection = make(lastToken)
        connections[lastToken] = connection
        return connection
    }

    /// Forgets a connection of which nothing is open any more.
    func remove(_ connection: WebSocketConnection) {
        guard connections.removeValue(forKey: connection.token) != nil else { return }
        guard let number = connection.hostNumber else { return }
        secureHosts[number]?.count -= 1
    }

    func connection(of socket: OpaquePointer) -> WebSocketConnection? {
        guard let opaque = lws_get_opaque_user_data(socket) else { return nil }
        return connections[UInt(bitPattern: opaque) & ~1]
    }

    /// Has one end of a pair watched by the library, for a connection. Calls
    /// `lws_adopt_descriptor_vhost_via_info`.
    func adoptInner(_ descriptor: consuming FileDescriptor, token: UInt) -> OpaquePointer? {
        var info = lws_adopt_desc_t()
        info.vh = plainHost
        info.type = LWS_ADOPT_RAW_FILE_DESC
        info.fd.filefd = descriptor.release()
        info.opaque = UnsafeMutableRawPointer(bitPattern: token | 1)
        info.vh_prot_name = UnsafePointer(Self.protocolName)
        return lws_adopt_descriptor_vhost_via_info(&info)
    }
}

extension WebSocketLoop {
    /// A host that shows a certificate; its number. Calls `lws_create_vhost`.
    func addHost(_ certificate: ServerCertificate) throws(WebSocketError) -> Int {
        certificateToLoad = (certificate, nil)
        defer { certificateToLoad = nil }
        let options =
            UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
            | UInt64(LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX)
        let host = makeHost(port: CONTEXT_PORT_NO_LISTEN_SERVER) { $0.options = options }
        guard let host else {
            throw certificateToLoad?.failure ?? WebSocketError(.library, "no virtual host")
        }
        lastHost += 1
        secureHosts[lastHost] = SecureHost(raw: host)
        return lastHost
    }

    /// Gives up a host as soon as it has no connections any more.
    func leaveHost(_ number: Int) { secureHosts[number]?.isLeft = true }

    /// Not within a callback, in which a connection may still be bound to its host. Calls
    /// `lws_vhost_destroy`.
    private func destroyLeftHosts() {
        for (number, host) in secureHosts where host.isLeft && host.count == 0 {
            secureHosts[number] = nil
            lws_vhost_destroy(host.raw)
        }
    }

    /// Serves a connection that was accepted.
    func accept(_ socket: consuming FileDescriptor, _ acceptance: WebSocketAcceptance) {
        guard connections.count < limits.connections else { return acceptance.settled() }
        let number = acceptance.hostNumber
        guard let host = number.map({ secureHosts[$0]?.raw }) ?? plainHost else {
            return acceptance.settled()
        }
        if let number { secureHosts[number]?.count += 1 }
        let connection = add { WebSocketConnection($0, self, .accepted(acceptance)) }
        var info = lws_adopt_desc_t()
        info.vh = host
        info.type = lws_adoption_type(
            LWS_ADOPT_SOCKET.rawValue | LWS_ADOPT_HTTP.rawValue | LWS_ADOPT_ALLOW_SSL.rawValue)
        info.fd.sockfd = socket.release()  // closed by the library, whatever comes
        info.opaque = UnsafeMutableRawPointer(bitPattern: connection.token)
        if lws_adopt_descriptor_vhost_via_info(&info) == nil { connection.hasEnded() }
    }

    /// Calls `lws_create_vhost`.
    func makeHost(
        port: Int32, _ setUp: (inout lws_context_creation_info) -> Void
    ) -> OpaquePointer? {
        var info = lws_context_creation_info()
        info.port = port
        info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        info.vhost_name = UnsafePointer(Self.protocolName)
        info.protocols = UnsafePointer(protocols)
        info.alpn = UnsafePointer(Self.alpn)
        info.connect_timeout_secs = UInt32(clamping: limits.handshake.components.seconds)
        info.keepalive_timeout = 1
        setUp(&info)
        return lws_create_vhost(context, &info)
    }
}
