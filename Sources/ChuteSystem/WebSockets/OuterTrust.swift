import COpenSSL

/// By what certificates of others are judged outside, where a WebSocket is one with TLS.
///
/// The system's authorities; or those of the file `SSL_CERT_FILE` names, as OpenSSL's own
/// programs have it. The library's own choice would add a folder relative to wherever the
/// program was started.
final class OuterTrust {
    let raw: OpaquePointer

    /// Calls `SSL_CTX_new` and `SSL_CTX_set_default_verify_paths`.
    init(_ environment: ProcessEnvironment) throws(WebSocketError) {
        do throws(OpenSSLError) {
            raw = try OpenSSLError.object("SSL_CTX_new") { SSL_CTX_new(TLS_client_method()) }
        } catch { throw WebSocketError(.tls, error.description) }
        _ = chute_SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION)
        SSL_CTX_set_options(raw, chute_SSL_OP_NO_COMPRESSION())
        let file = environment["SSL_CERT_FILE"]
        do throws(OpenSSLError) {
            try OpenSSLError.check("SSL_CTX_load_verify_file") {
                guard let file else { return SSL_CTX_set_default_verify_paths(raw) }
                return file.withCString { SSL_CTX_load_verify_file(raw, $0) }
            }
        } catch {
            let what = file.map { "\($0), which SSL_CERT_FILE names" } ?? "the system's authorities"
            throw WebSocketError(.tls, "\(what) cannot be read: \(error.reason)")
        }
    }

    deinit { SSL_CTX_free(raw) }
}
