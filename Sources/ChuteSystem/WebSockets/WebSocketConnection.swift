import CWebSockets
import Glibc

/// One WebSocket and the pair's end that it is pumped to.
///
/// Both directions are bounded: what arrives is read only while the pair takes it, and the pair
/// is read only while the socket takes more.
///
/// Not `Sendable`: the loop's thread owns it.
final class WebSocketConnection {
    /// How it came about, and who is told.
    enum Origin {
        case accepted(WebSocketAcceptance)
        case dialled(WebSocketAttempt, WebSocketLoop.Way)
    }

    let token: UInt
    let origin: Origin
    /// The loop holds the connection.
    unowned let loop: WebSocketLoop

    /// The WebSocket, or what shall become one; `nil` when it is closed.
    var outer: OpaquePointer?
    /// A duplicate of `end` that the library watches; `nil` when the pair's other end is closed.
    var inner: OpaquePointer?
    /// The pair's end on this side.
    var end: FileDescriptor?
    private(set) var isOpen = false
    private var isSettled = false

    /// What arrived and the pair had no room for: at most what the library reads at once.
    var unsent: [UInt8] = []
    /// How many bytes of the message that arrives came already.
    var messageCount = 0
    /// Whether the pair may have something to read.
    var mayRead = false
    var isPingDue = false
    /// Pings since a byte arrived.
    var unansweredPings = 0
    /// Where a request comes from, once its header was read.
    private var source: String?
    /// Why OpenSSL does not trust the server's certificate.
    var certificateProblem: String?

    init(_ token: UInt, _ loop: WebSocketLoop, _ origin: Origin) {
        self.token = token
        self.loop = loop
        self.origin = origin
    }

    /// The number of `end`.
    var endNumber: Int32? { end == nil ? nil : end?.raw }

    /// The host that it came to, where that is one of several.
    var hostNumber: Int? {
        if case .accepted(let acceptance) = origin { acceptance.hostNumber } else { nil }
    }

    func isOf(_ attempt: WebSocketAttempt) -> Bool {
        if case .dialled(let own, _) = origin { own === attempt } else { false }
    }

    /// What the library tells. Not zero: close that socket.
    func happened(
        _ socket: OpaquePointer, _ reason: lws_callback_reasons,
        _ input: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_RECEIVE, LWS_CALLBACK_CLIENT_RECEIVE:
            return arrived(socket, UnsafeRawBufferPointer(start: input, count: count))
        case LWS_CALLBACK_SERVER_WRITEABLE, LWS_CALLBACK_CLIENT_WRITEABLE: return send(socket)
        case LWS_CALLBACK_RAW_RX_FILE: return innerIsReadable(socket)
        case LWS_CALLBACK_RAW_WRITEABLE_FILE: return innerIsWritable(socket)
        case LWS_CALLBACK_RECEIVE_PONG, LWS_CALLBACK_CLIENT_RECEIVE_PONG: unansweredPings = 0
        case LWS_CALLBACK_TIMER: return timePassed(socket)

        case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
            outer = socket
            setTimer(socket, loop.limits.handshake)
        case LWS_CALLBACK_HTTP: return refuse(socket, isUpgrade: false)
        case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
            let asked = input.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
            return refuse(socket, isUpgrade: asked?.lowercased() == "websocket")
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: findSource(socket)
        case LWS_CALLBACK_ESTABLISHED, LWS_CALLBACK_CLIENT_ESTABLISHED: return open(socket)

        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            let text = UnsafeRawBufferPointer(start: input, count: count)
            settle(failure(socket, String(decoding: text, as: UTF8.self)))
            outer = nil  // nothing else may be told of it
            hasEnded()
        case LWS_CALLBACK_CLOSED, LWS_CALLBACK_CLIENT_CLOSED: outerIsGone()
        case LWS_CALLBACK_RAW_CLOSE_FILE: innerIsGone()
        case LWS_CALLBACK_WSI_DESTROY:
            if UInt(bitPattern: lws_get_opaque_user_data(socket)) == token { outerIsGone() }
        default: break
        }
        return 0
    }

    /// Calls `lws_set_timer_usecs`.
    func setTimer(_ socket: OpaquePointer, _ pause: Duration) {
        let (seconds, rest) = pause.components
        lws_set_timer_usecs(socket, seconds * 1_000_000 + rest / 1_000_000_000_000)
    }

    /// 404 for what is not asked for at the path, 426 for what is and is no WebSocket; 0 for
    /// what is one.
    private func refuse(_ socket: OpaquePointer, isUpgrade: Bool) -> Int32 {
        guard case .accepted(let acceptance) = origin else { return -1 }
        let isThere = header(socket, WSI_TOKEN_GET_URI) == acceptance.path
        if isThere, isUpgrade { return 0 }
        let status = isThere ? 426 : HTTP_STATUS_NOT_FOUND.rawValue
        // Best effort: it is closed in any case.
        _ = lws_return_http_status(socket, status, nil)
        return -1
    }

    private func findSource(_ socket: OpaquePointer) {
        guard case .accepted(let acceptance) = origin else { return }
        source = ForwardedFor.source(
            of: acceptance.peer, header: header(socket, WSI_TOKEN_X_FORWARDED_FOR),
            trusted: acceptance.trustedProxies)
    }

    /// A header of the request; those of one name are joined by commas. Calls `lws_hdr_copy`.
    private func header(_ socket: OpaquePointer, _ token: lws_token_indexes) -> String? {
        let length = Int(lws_hdr_total_length(socket, token))
        guard length > 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + 1) { buffer in
            let count = lws_hdr_copy(socket, buffer.baseAddress, Int32(buffer.count), token)
            guard count > 0 else { return nil }
            return String(
                decoding: UnsafeRawBufferPointer(
                    rebasing: UnsafeRawBufferPointer(buffer)[..<Int(count)]), as: UTF8.self)
        }
    }

    /// The handshake is done: makes the pair and hands over its other end.
    private func open(_ socket: OpaquePointer) -> Int32 {
        outer = socket
        do throws(SystemError) {
            let pair = try Socket.pair()
            let watched = FileDescriptor(
                owning: try retrying("fcntl") { fcntl(pair.one.raw, F_DUPFD_CLOEXEC, 0) })
            inner = loop.adoptInner(watched, token: token)
            guard inner != nil else { return -1 }
            isOpen = true
            setTimer(socket, loop.limits.pingInterval)
            let other = keep(pair)
            handOver(other)
            return 0
        } catch {
            settle(WebSocketError(.library, error.description))
            return -1
        }
    }

    /// Keeps one end; the other one.
    private func keep(_ pair: consuming Socket.Pair) -> FileDescriptor {
        let one = pair.one
        end = consume one
        return pair.other
    }

    /// Hands over the end that the handshake has led to.
    private func handOver(_ descriptor: consuming FileDescriptor) {
        isSettled = true
        switch origin {
        case .accepted(let acceptance):
            acceptance.accepted(descriptor, source ?? acceptance.peer.description)
            acceptance.settled()
        case .dialled(let attempt, _): attempt.resolve(.success(descriptor.release()))
        }
    }

    /// Tells that the handshake has failed, if nobody was told how it ended.
    func settle(_ failure: WebSocketError) {
        guard !isSettled else { return }
        isSettled = true
        switch origin {
        case .accepted(let acceptance): acceptance.settled()
        case .dialled(let attempt, _): attempt.resolve(.failure(failure))
        }
    }
}
