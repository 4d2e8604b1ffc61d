import COpenSSL
import CWebSockets
import Glibc

extension WebSocketLoop {
    /// The sub-protocol, and the name of each virtual host. Kept by the library as a pointer.
    nonisolated(unsafe) static let protocolName: UnsafeMutablePointer<CChar> = strdup("chute")
    /// Without HTTP/2, in which a WebSocket is something else.
    nonisolated(unsafe) static let alpn: UnsafeMutablePointer<CChar> = strdup("http/1.1")

    /// The one protocol, and the end of the list. The library copies it.
    static func makeProtocols(_ messageSize: Int) -> UnsafeMutablePointer<lws_protocols> {
        let list = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
        list.initialize(repeating: lws_protocols(), count: 2)
        list[0].name = UnsafePointer(protocolName)
        list[0].callback = { socket, reason, user, input, count in
            guard let socket, let context = lws_get_context(socket),
                let loop = lws_context_user(context)
            else { return 0 }
            return Unmanaged<WebSocketLoop>.fromOpaque(loop).takeUnretainedValue()
                .happened(socket, reason, user, input, count)
        }
        // Also how much is given to the system at once.
        list[0].rx_buffer_size = messageSize
        return list
    }

    /// Everything that the library tells. Not zero: close the socket.
    private func happened(
        _ socket: OpaquePointer, _ reason: lws_callback_reasons,
        _ user: UnsafeMutableRawPointer?, _ input: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
            return loadCertificate(OpaquePointer(user)) ? 0 : 1
        case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
            // What OpenSSL found stands; `count` is not zero where it found nothing wrong.
            if count == 0, let store = OpaquePointer(user), let found = connection(of: socket) {
                let code = Int(X509_STORE_CTX_get_error(store))
                found.certificateProblem = String(cString: X509_verify_cert_error_string(code))
            }
            return 0
        default:
            guard let connection = connection(of: socket) else { return 0 }
            return connection.happened(socket, reason, input, count)
        }
    }
}
