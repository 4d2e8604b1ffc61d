import COpenSSL

/// A call into OpenSSL that failed, and the library's reason.
package struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The packed code from OpenSSL's error queue; 0 where the reason is not the library's.
    package let code: UInt
    /// The C call that failed, such as `SSL_do_handshake`.
    package let call: String
    /// The library's words, such as "certificate verify failed".
    package let reason: String

    package var description: String { "\(reason) (\(call))" }

    init(code: UInt = 0, call: String, reason: String) {
        self.code = code
        self.call = call
        self.reason = reason
    }

    /// Leaves OpenSSL's memory to the end of the process.
    ///
    /// Its own handler at `exit` would free algorithms that another thread is still hashing
    /// with. Must be the first call into the library. Calls `OPENSSL_init_crypto`.
    private static let startsLibrary: Bool =
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Forgets what failed before on this thread. Every first call of a kind follows this.
    static func clearQueue() {
        precondition(startsLibrary, "OPENSSL_init_crypto")
        ERR_clear_error()
    }

    /// Takes the oldest entry of this thread's queue, which is the cause of the others, and
    /// empties the queue. Must directly follow the failed call.
    static func current(_ call: String) -> OpenSSLError {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else {
            return OpenSSLError(code: UInt(code), call: call, reason: "failed without a reason")
        }
        return OpenSSLError(code: UInt(code), call: call, reason: String(cString: reason))
    }

    /// Runs a call that returns a new object or NULL.
    static func object(
        _ call: String, _ body: () -> OpaquePointer?
    ) throws(OpenSSLError) -> OpaquePointer {
        clearQueue()
        guard let object = body() else { throw current(call) }
        return object
    }

    /// Runs a call that returns a positive number on success, and gives that number.
    @discardableResult
    static func check(_ call: String, _ body: () -> Int32) throws(OpenSSLError) -> Int32 {
        clearQueue()
        let result = body()
        guard result > 0 else { throw current(call) }
        return result
    }

    /// Runs a call that fails only where memory or OpenSSL itself is missing, and stops the
    /// process if it does.
    static func require<Result>(
        _ body: () throws(OpenSSLError) -> Result
    ) -> Result {
        do { return try body() } catch { preconditionFailure("OpenSSL: \(error)") }
    }
}
