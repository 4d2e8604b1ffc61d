import COpenSSL
import Glibc

/// One TLS connection over a connected, non-blocking socket that it owns.
///
/// No call blocks. `wantsRead` and `wantsWrite` mean: call again with the same arguments when
/// the descriptor is readable or writable. After an error, or a `closed` that is not clean, the
/// stream is of no more use. Read until `wantsRead` before waiting: bytes that OpenSSL holds
/// already make no descriptor readable.
///
/// Not `Sendable`: one isolation owns it. **`SIGPIPE` must be ignored by the process**, or a
/// peer that hangs up ends it.
package final class TLSStream {
    /// Who begins: the side that dialled is the client.
    package enum Role: Sendable { case client, server }

    /// How far the handshake is.
    package enum Progress: Hashable, Sendable { case done, wantsRead, wantsWrite }

    package enum ReadResult: Hashable, Sendable {
        /// So many bytes were read, at least one if the buffer has room.
        case bytes(Int)
        case wantsRead, wantsWrite
        /// Nothing more comes. Not clean: the peer did not say so, what it sent may be cut.
        case closed(clean: Bool)
    }

    package enum WriteResult: Hashable, Sendable {
        /// So many bytes were taken, maybe fewer than were offered.
        case bytes(Int)
        case wantsRead, wantsWrite
    }

    /// Why a call of OpenSSL gave nothing.
    private enum Stop { case wantsRead, wantsWrite, closed(clean: Bool) }

    let raw: OpaquePointer
    private let descriptor: FileDescriptor
    private var isBroken = false
    /// The peer's public key (DER SubjectPublicKeyInfo); empty until the handshake is done.
    package private(set) var peerSPKI: [UInt8] = []

    /// Takes over `descriptor`, which must be connected and non-blocking. Calls `SSL_new`.
    package init(
        context: TLSContext, role: Role, descriptor: consuming FileDescriptor
    ) throws(OpenSSLError) {
        let number = descriptor.raw
        raw = try OpenSSLError.object("SSL_new") { SSL_new(context.raw) }
        self.descriptor = descriptor
        try OpenSSLError.check("SSL_set_fd") { [raw] in SSL_set_fd(raw, number) }
        switch role {
        case .client: SSL_set_connect_state(raw)
        case .server: SSL_set_accept_state(raw)
        }
    }

    deinit { SSL_free(raw) }

    /// The socket's number, to wait on; the stream closes it.
    package var descriptorNumber: Int32 { descriptor.raw }

    /// Goes on with the handshake; call until `done`. Calls `SSL_do_handshake`.
    ///
    /// A client may be done before the server has judged its certificate; only what the server
    /// sends then proves that it took it.
    package func handshake() throws(OpenSSLError) -> Progress {
        ERR_clear_error()
        errno = 0
        let result = SSL_do_handshake(raw)
        if result != 1 {
            switch try stop(result, "SSL_do_handshake") {
            case .wantsRead: return .wantsRead
            case .wantsWrite: return .wantsWrite
            case .closed: throw fail("SSL_do_handshake", "the peer hung up")
            }
        }
        // A client that offers no protocol at all never reaches the server's choice.
        guard chosenProtocol == TLSContext.applicationProtocol else {
            throw fail("SSL_get0_alpn_selected", "the peer does not speak chute/1")
        }
        guard let certificate = SSL_get0_peer_certificate(raw),
            let key = PublicKey(certificate: certificate)
        else { throw fail("SSL_get0_peer_certificate", "the peer showed no key") }
        peerSPKI = key.spki
        return .done
    }

    /// Reads what is there, up to `buffer.count` bytes. Calls `SSL_read_ex`.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) -> ReadResult {
        guard buffer.count > 0 else { return .bytes(0) }
        var count = 0
        ERR_clear_error()
        errno = 0
        let result = SSL_read_ex(raw, buffer.baseAddress, buffer.count, &count)
        if result == 1 { return .bytes(count) }
        switch try stop(result, "SSL_read_ex") {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closed(let clean): return .closed(clean: clean)
        }
    }

    /// Offers `bytes`. Calls `SSL_write_ex`.
    ///
    /// After `wantsRead` or `wantsWrite` the next call must offer the same bytes, or more that
    /// begin with them; they may lie elsewhere in memory.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(OpenSSLError) -> WriteResult {
        guard bytes.count > 0 else { return .bytes(0) }
        var count = 0
        ERR_clear_error()
        errno = 0
        let result = SSL_write_ex(raw, bytes.baseAddress, bytes.count, &count)
        if result == 1 { return .bytes(count) }
        switch try stop(result, "SSL_write_ex") {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closed: throw fail("SSL_write_ex", "the peer hung up")
        }
    }

    /// How many bytes can be read without the descriptor. Calls `SSL_pending`.
    package var pending: Int { Int(SSL_pending(raw)) }

    /// Key material that only the two ends of this connection have (RFC 5705), of any `count`.
    ///
    /// Only after the handshake. Calls `SSL_export_keying_material`.
    package func exportKeyingMaterial(
        label: String, context: [UInt8], count: Int
    ) throws(OpenSSLError) -> [UInt8] {
        let label = label.utf8.map(CChar.init(bitPattern:))
        var material = [UInt8](repeating: 0, count: count)
        try OpenSSLError.check("SSL_export_keying_material") {
            SSL_export_keying_material(
                raw, &material, count, label, label.count, context, context.count, 1)
        }
        return material
    }

    /// Tells the peer that nothing more comes, if the socket takes it at once.
    ///
    /// Everything written before must have been taken. The socket stays open until the stream
    /// goes. Calls `SSL_shutdown`.
    package func shutdown() {
        guard !isBroken, SSL_is_init_finished(raw) == 1 else { return }
        ERR_clear_error()
        _ = SSL_shutdown(raw)
        ERR_clear_error()
    }

    private var chosenProtocol: [UInt8] {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(raw, &start, &count)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// Must directly follow the call that returned `result`.
    private func stop(_ result: Int32, _ call: String) throws(OpenSSLError) -> Stop {
        let code = errno
        switch SSL_get_error(raw, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed(clean: true)
        case SSL_ERROR_SYSCALL:
            isBroken = true
            if [0, ECONNRESET, EPIPE, ENOTCONN].contains(code) { return .closed(clean: false) }
            throw OpenSSLError(call: call, reason: SystemError(code: code, call: call).reason)
        default:
            isBroken = true
            let error = OpenSSLError.current(call)
            let reason = ERR_GET_REASON(error.code)
            if reason == SSL_R_UNEXPECTED_EOF_WHILE_READING { return .closed(clean: false) }
            throw error
        }
    }

    private func fail(_ call: String, _ reason: String) -> OpenSSLError {
        isBroken = true
        return OpenSSLError(call: call, reason: reason)
    }
}
