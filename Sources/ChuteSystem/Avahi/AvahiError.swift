import CAvahi

/// A call of Avahi's that failed: the call and its code, such as -33, "Not permitted".
package struct AvahiError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One of `AVAHI_ERR_…`.
    package let code: Int32
    /// The C call that failed.
    package let call: String

    package init(code: Int32, call: String) {
        self.code = code
        self.call = call
    }

    /// Avahi's own words.
    package var reason: String { avahi_strerror(code).map { String(cString: $0) } ?? "unknown" }

    package var description: String { "\(reason) (\(call) \(code))" }

    /// Whether the daemon's configuration forbids it.
    package var isForbidden: Bool { code == Int32(AVAHI_ERR_NOT_PERMITTED) }

    /// Whether no socket for mDNS could be opened.
    package var isWithoutSocket: Bool { code == Int32(AVAHI_ERR_NO_NETWORK) }

    /// Whether Avahi's library is not installed.
    package var isMissingLibrary: Bool { code == Int32(AVAHI_ERR_NOT_SUPPORTED) }

    /// Throws what a call returned, where it is an error.
    static func check(_ call: String, _ result: Int32) throws(AvahiError) {
        if result < 0 { throw AvahiError(code: result, call: call) }
    }
}
