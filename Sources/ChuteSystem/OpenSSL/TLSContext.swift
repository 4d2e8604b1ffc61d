import COpenSSL

/// How this device speaks TLS, as a client and as a server alike.
///
/// TLS 1.3 only; both sides show a certificate; ALPN is `chute/1`. Any certificate with an
/// Ed25519 or P-256 key is accepted, whatever its dates, and the peer proves that it has the key:
/// *who* it is must be decided by `TLSStream.peerSPKI` after the handshake. A session is never
/// resumed (no tickets, no cache, no pre-shared keys, no early data), because a resumed one
/// shows no certificate.
///
/// `Sendable`, because an `SSL_CTX` is only read once it is set up and counts its references
/// atomically.
package final class TLSContext: Sendable {
    /// The application protocol that both sides must speak, `chute/1`.
    package static let applicationProtocol = Array("chute/1".utf8)

    /// Never changed after `init`, see above.
    nonisolated(unsafe) let raw: OpaquePointer

    /// Makes a fresh certificate for `key`. Calls `SSL_CTX_new`.
    package init(key: DeviceKey) throws(OpenSSLError) {
        let context = try OpenSSLError.object("SSL_CTX_new") { SSL_CTX_new(TLS_method()) }
        do throws(OpenSSLError) {
            try Self.setUpProtocol(context)
            Self.forbidResumption(context)
            try Self.setUpApplicationProtocol(context)
            Self.setUpPeerCheck(context)
            try Self.show(key, context)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        raw = context
    }

    deinit { SSL_CTX_free(raw) }

    private static func setUpProtocol(_ context: OpaquePointer) throws(OpenSSLError) {
        let hasAES = chute_processor_has_aes() != 0
        let (aes, chacha) = ("TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256")
        try OpenSSLError.check("SSL_CTX_set_min_proto_version") {
            chute_SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)
        }
        try OpenSSLError.check("SSL_CTX_set_max_proto_version") {
            chute_SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION)
        }
        try OpenSSLError.check("SSL_CTX_set_ciphersuites") {
            SSL_CTX_set_ciphersuites(context, hasAES ? "\(aes):\(chacha)" : "\(chacha):\(aes)")
        }
        try OpenSSLError.check("SSL_CTX_set1_groups_list") {
            chute_SSL_CTX_set1_groups_list(context, "X25519:P-256")
        }
        try OpenSSLError.check("SSL_CTX_set1_sigalgs_list") {
            chute_SSL_CTX_set1_sigalgs_list(context, "ed25519:ECDSA+SHA256")
        }
        var options = chute_SSL_OP_NO_COMPRESSION() | chute_SSL_OP_NO_RENEGOTIATION()
        // The client's order counts, so that AES is taken only if both sides are quick at it.
        if !hasAES { options |= chute_SSL_OP_CIPHER_SERVER_PREFERENCE() }
        SSL_CTX_set_options(context, options)
        // A cut must never look like an end, whatever the system's configuration says.
        SSL_CTX_clear_options(context, chute_SSL_OP_IGNORE_UNEXPECTED_EOF())
        // Several records for one call of `read`.
        _ = chute_SSL_CTX_set_read_ahead(context, 1)
        SSL_CTX_set_default_read_buffer_len(context, 64 << 10)
        _ = chute_SSL_CTX_set_mode(
            context,
            Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
    }

    private static func forbidResumption(_ context: OpaquePointer) {
        SSL_CTX_set_options(context, chute_SSL_OP_NO_TICKET())
        SSL_CTX_set_num_tickets(context, 0)
        _ = chute_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        SSL_CTX_set_max_early_data(context, 0)
        SSL_CTX_set_recv_max_early_data(context, 0)
    }

    private static func setUpApplicationProtocol(_ context: OpaquePointer) throws(OpenSSLError) {
        let wire = [UInt8(applicationProtocol.count)] + applicationProtocol
        // The one call of the library that returns 0 for success.
        ERR_clear_error()
        guard SSL_CTX_set_alpn_protos(context, wire, UInt32(wire.count)) == 0 else {
            throw .current("SSL_CTX_set_alpn_protos")
        }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenCount, offered, offeredCount, _ in
                var rest = UnsafeBufferPointer(start: offered, count: Int(offeredCount))[...]
                while let count = rest.popFirst(), rest.count >= Int(count) {
                    let name = rest.prefix(Int(count))
                    if name.elementsEqual(TLSContext.applicationProtocol) {
                        chosen?.pointee = UnsafeBufferPointer(rebasing: name).baseAddress
                        chosenCount?.pointee = count
                        return SSL_TLSEXT_ERR_OK
                    }
                    rest = rest.dropFirst(Int(count))
                }
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }, nil)
    }

    private static func setUpPeerCheck(_ context: OpaquePointer) {
        SSL_CTX_set_verify(
            context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT | SSL_VERIFY_CLIENT_ONCE,
            nil)
        SSL_CTX_set_cert_verify_callback(
            context,
            { store, _ in
                if let certificate = X509_STORE_CTX_get0_cert(store),
                    PublicKey(certificate: certificate) != nil
                {
                    X509_STORE_CTX_set_error(store, X509_V_OK)
                    return 1
                }
                X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
                return 0
            }, nil)
        // A certificate of ours has some 250 bytes: a stranger need not make us hold 100 KiB.
        _ = chute_SSL_CTX_set_max_cert_list(context, 8 * 1024)
    }

    private static func show(_ key: DeviceKey, _ context: OpaquePointer) throws(OpenSSLError) {
        let certificate = try key.makeCertificate()
        defer { X509_free(certificate) }
        try OpenSSLError.check("SSL_CTX_use_certificate") {
            SSL_CTX_use_certificate(context, certificate)
        }
        try OpenSSLError.check("SSL_CTX_use_PrivateKey") {
            SSL_CTX_use_PrivateKey(context, key.raw)
        }
    }
}
