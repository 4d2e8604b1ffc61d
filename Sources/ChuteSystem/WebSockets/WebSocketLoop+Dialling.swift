import CWebSockets

/// Connections to elsewhere.
extension WebSocketLoop {
    /// Begins to connect. Calls `lws_client_connect_via_info`.
    func dial(_ way: Way, _ attempt: WebSocketAttempt) {
        guard !attempt.isResolved else { return }  // given up before it began
        guard connections.count < limits.connections else {
            return attempt.resolve(
                .failure(WebSocketError(.library, "\(limits.connections) WebSockets are open")))
        }
        do throws(WebSocketError) {
            let host = try clientHost(way)
            let connection = add { WebSocketConnection($0, self, .dialled(attempt, way)) }
            connection.outer = connect(way, host, connection.token)
            if connection.outer == nil { connection.hasEnded() }
        } catch { attempt.resolve(.failure(error)) }
    }

    private func connect(_ way: Way, _ host: OpaquePointer, _ token: UInt) -> OpaquePointer? {
        // Where a proxy is asked, this is for the proxy to look up.
        let named = way.url.address.host
        let target =
            way.proxy == nil ? way.address.host : named.contains(":") ? "[\(named)]" : named
        var info = lws_client_connect_info()
        info.context = context
        info.vhost = host
        info.port = Int32(way.url.address.port)
        info.ietf_version_or_minus_one = -1
        info.ssl_connection = Int32(LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue)
        if way.url.isSecure { info.ssl_connection |= Int32(LCCSCF_USE_SSL.rawValue) }
        info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: token)
        // Copied by the library.
        let texts = [target, way.url.path, way.url.authority].map { Array($0.utf8CString) }
        return texts[0].withUnsafeBufferPointer { target in
            texts[1].withUnsafeBufferPointer { path in
                texts[2].withUnsafeBufferPointer { authority in
                    info.address = target.baseAddress
                    info.path = path.baseAddress
                    info.host = authority.baseAddress
                    info.protocol = UnsafePointer(Self.protocolName)
                    info.alpn = UnsafePointer(Self.alpn)
                    return lws_client_connect_via_info(&info)
                }
            }
        }
    }

    /// Closes what an attempt has begun.
    func abandon(_ attempt: WebSocketAttempt) {
        connections.values.first { $0.isOf(attempt) }?.giveUp()
    }

    private func clientHost(_ way: Way) throws(WebSocketError) -> OpaquePointer {
        // An empty one keeps the library from reading the environment itself.
        let proxy = way.proxy.map { proxy in
            (proxy.credentials.map { $0 + "@" } ?? "") + way.address.description
        }
        if let host = clientHosts[proxy ?? ""] { return host }
        if trust == nil { trust = try OuterTrust(environment) }
        let host = (proxy ?? "").withCString { text in
            makeHost(port: CONTEXT_PORT_NO_LISTEN) { info in
                info.http_proxy_address = text
                info.provided_client_ssl_ctx = trust?.raw
            }
        }
        guard let host else { throw WebSocketError(.library, "no virtual host") }
        clientHosts[proxy ?? ""] = host
        return host
    }
}
