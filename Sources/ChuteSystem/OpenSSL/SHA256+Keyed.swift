import COpenSSL

extension SHA256 {
    /// The longest key material that HKDF gives: 255 digests.
    package static let longestDerivation = 255 * byteCount

    /// HMAC-SHA256 of `message` under `key` (RFC 2104). Calls `EVP_Q_mac`.
    ///
    /// Compare it with `SecretBytes.equal`, never with `==`.
    package static func authenticationCode(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        OpenSSLError.clearQueue()
        return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, filled in
            let result = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count,
                buffer.baseAddress, byteCount, nil)
            precondition(result != nil, "EVP_Q_mac")
            filled = byteCount
        }
    }

    /// HKDF-SHA256, extract and expand (RFC 5869): `count` bytes from `secret`.
    ///
    /// `secret` must not be empty, `count` lies in 1...`longestDerivation`. Calls
    /// `EVP_KDF_derive`.
    package static func deriveKey(
        from secret: [UInt8], salt: [UInt8] = [], info: [UInt8], count: Int = byteCount
    ) -> [UInt8] {
        precondition(!secret.isEmpty && (1...longestDerivation).contains(count))
        return OpenSSLError.require { () throws(OpenSSLError) in
            let kdf = try OpenSSLError.object("EVP_KDF_fetch") { EVP_KDF_fetch(nil, "HKDF", nil) }
            defer { EVP_KDF_free(kdf) }
            let context = try OpenSSLError.object("EVP_KDF_CTX_new") { EVP_KDF_CTX_new(kdf) }
            defer { EVP_KDF_CTX_free(context) }
            var key = [UInt8](repeating: 0, count: count)
            try OpenSSLError.check("EVP_KDF_derive") {
                chute_hkdf_sha256(
                    context, secret, secret.count, salt, salt.count, info, info.count, &key,
                    count)
            }
            return key
        }
    }
}
