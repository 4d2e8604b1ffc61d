import COpenSSL

/// What one does with bytes that nobody else may know.
package enum SecretBytes {
    /// `count` bytes that nobody can guess. Calls `RAND_bytes`.
    ///
    /// Stops the process if there is no randomness: nothing sensible can be done without.
    package static func random(count: Int) -> [UInt8] {
        OpenSSLError.require { () throws(OpenSSLError) in
            var bytes = [UInt8](repeating: 0, count: count)
            guard let length = Int32(exactly: count) else { preconditionFailure("too many") }
            try OpenSSLError.check("RAND_bytes") { RAND_bytes(&bytes, length) }
            return bytes
        }
    }

    /// Whether both are the same, in a time that depends only on their length.
    ///
    /// Calls `CRYPTO_memcmp`.
    package static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
