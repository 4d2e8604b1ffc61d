import CMagic
import Glibc

/// The rules of libmagic, loaded once: bytes in, a MIME type out.
///
/// One cookie, not `Sendable`, because libmagic keeps its working state in the cookie: each
/// owner loads its own (about 1 ms and 1.4 MB).
package final class MagicDatabase {
    private let cookie: magic_t

    /// Loads the rules of the system, or those at `path`.
    ///
    /// Nothing is unpacked to look inside: what is compressed is named as it is. Calls
    /// `magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS)` and `magic_load`.
    package init(path: BytePath? = nil) throws(MagicError) {
        let flags = MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS
        guard let cookie = magic_open(flags) else {
            throw MagicError(
                code: errno, call: "magic_open", reason: String(cString: strerror(errno)))
        }
        let result: Int32
        if let path {
            result = path.withCString { magic_load(cookie, $0) }
        } else {
            result = magic_load(cookie, nil)
        }
        guard result == 0 else {
            let failure = Self.failure(of: cookie, "magic_load")
            magic_close(cookie)
            throw failure
        }
        self.cookie = cookie
    }

    deinit { magic_close(cookie) }

    /// The MIME type of a file that begins with these bytes, such as `image/jpeg`.
    ///
    /// Only these bytes are looked at: a short beginning misnames JSON. Calls `magic_buffer`.
    package func type(ofBytes bytes: [UInt8]) throws(MagicError) -> String {
        let answer = bytes.withUnsafeBytes { magic_buffer(cookie, $0.baseAddress, $0.count) }
        guard let answer else { throw Self.failure(of: cookie, "magic_buffer") }
        return String(cString: answer)
    }

    private static func failure(of cookie: magic_t, _ call: String) -> MagicError {
        let words = magic_error(cookie).map { String(cString: $0) } ?? ""
        return MagicError(code: magic_errno(cookie), call: call, reason: words)
    }
}
