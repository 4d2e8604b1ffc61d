import COpenSSL

/// SHA-256 in pieces: `update` as often as there are bytes, then `finish`, then from the start.
///
/// Keeps one context for all digests it makes, which costs half of making one for each. Not
/// `Sendable`: whoever hashes owns one.
package final class SHA256 {
    /// The length of a digest in bytes.
    package static let byteCount = 32

    /// Fetched once: `EVP_sha256()` would be looked up again on each use.
    ///
    /// `nonisolated(unsafe)`, because a fetched `EVP_MD` is never changed and counts its
    /// references atomically.
    nonisolated(unsafe) static let algorithm: OpaquePointer = OpenSSLError.require {
        () throws(OpenSSLError) in
        try OpenSSLError.object("EVP_MD_fetch") { EVP_MD_fetch(nil, "SHA256", nil) }
    }

    private let context: OpaquePointer

    package init() {
        context = OpenSSLError.require { () throws(OpenSSLError) in
            let context = try OpenSSLError.object("EVP_MD_CTX_new") { EVP_MD_CTX_new() }
            try OpenSSLError.check("EVP_DigestInit_ex2") {
                EVP_DigestInit_ex2(context, Self.algorithm, nil)
            }
            return context
        }
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Takes more bytes. Calls `EVP_DigestUpdate`.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        precondition(EVP_DigestUpdate(context, start, bytes.count) == 1, "EVP_DigestUpdate")
    }

    /// Takes more bytes.
    package func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes(update) }

    /// Writes the digest to the first 32 bytes of `digest` and starts anew.
    ///
    /// `digest` may be memory that was hashed. Calls `EVP_DigestFinal_ex`.
    package func finish(into digest: UnsafeMutableRawBufferPointer) {
        precondition(digest.count >= Self.byteCount, "a digest needs 32 bytes")
        let start = digest.baseAddress?.assumingMemoryBound(to: UInt8.self)
        precondition(EVP_DigestFinal_ex(context, start, nil) == 1, "EVP_DigestFinal_ex")
        precondition(EVP_DigestInit_ex2(context, nil, nil) == 1, "EVP_DigestInit_ex2")
    }

    /// The digest of all bytes since the last `finish`.
    package func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, filled in
            finish(into: UnsafeMutableRawBufferPointer(buffer))
            filled = Self.byteCount
        }
    }

    /// The digest of `bytes`. Calls `EVP_Digest`.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, filled in
            let result = EVP_Digest(
                bytes.baseAddress, bytes.count, buffer.baseAddress, nil, algorithm, nil)
            precondition(result == 1, "EVP_Digest")
            filled = byteCount
        }
    }

    /// The digest of `bytes`.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }
}
