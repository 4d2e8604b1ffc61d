/// What libmagic says went wrong.
package struct MagicError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` value that libmagic saw, zero if there was none.
    package let code: Int32
    /// The C call that failed, such as `magic_load`.
    package let call: String
    /// The library's own words, empty if it had none.
    package let reason: String

    package var description: String {
        reason.isEmpty ? "libmagic failed (\(call))" : "\(reason) (\(call))"
    }
}
