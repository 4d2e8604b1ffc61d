import COpenSSL
import Glibc

/// The certificate that a server shows outside, with those up to its authority, and its key: two
/// files in PEM, or one that has both.
package struct ServerCertificate: Hashable, Sendable {
    package let certificate: BytePath
    package let key: BytePath

    package init(certificate: BytePath, key: BytePath) {
        self.certificate = certificate
        self.key = key
    }

    /// Shows it in `context`, an `SSL_CTX`. Throws what is wrong with which file.
    func load(into context: OpaquePointer) throws(WebSocketError) {
        try checkReadable(certificate)
        try checkReadable(key)
        try attempt("\(certificate) is no certificate in PEM") { () throws(OpenSSLError) in
            try OpenSSLError.check("SSL_CTX_use_certificate_chain_file") {
                certificate.withCString { SSL_CTX_use_certificate_chain_file(context, $0) }
            }
        }
        let meaning = "\(key) is not the key of \(certificate), in PEM and without a password"
        try attempt(meaning) { () throws(OpenSSLError) in
            // Nobody is there to be asked.
            SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
            try OpenSSLError.check("SSL_CTX_use_PrivateKey_file") {
                key.withCString { SSL_CTX_use_PrivateKey_file(context, $0, SSL_FILETYPE_PEM) }
            }
            return try OpenSSLError.check("SSL_CTX_check_private_key") {
                SSL_CTX_check_private_key(context)
            }
        }
    }

    private func checkReadable(_ path: BytePath) throws(WebSocketError) {
        do throws(SystemError) {
            _ = try FileDescriptor.open(path, FileDescriptor.readOnlyFollowing)
        } catch { throw WebSocketError(.certificate, "\(path): \(error.reason)") }
    }

    private func attempt(
        _ meaning: String, _ body: () throws(OpenSSLError) -> Int32
    ) throws(WebSocketError) {
        do throws(OpenSSLError) { _ = try body() } catch {
            throw WebSocketError(.certificate, "\(meaning): \(error.reason)")
        }
    }
}

extension WebSocketLoop {
    /// Gives the host that is being made its certificate; `false` where it cannot be used.
    func loadCertificate(_ context: OpaquePointer?) -> Bool {
        guard let context, let certificate = certificateToLoad?.certificate else { return false }
        // The library would look for another host by the name that a client asks for, and might
        // take one with another certificate.
        _ = SSL_CTX_callback_ctrl(context, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, nil)
        _ = chute_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        do throws(WebSocketError) {
            try certificate.load(into: context)
            return true
        } catch {
            certificateToLoad?.failure = error
            return false
        }
    }
}
