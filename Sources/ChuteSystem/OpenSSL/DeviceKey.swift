import COpenSSL

/// The private key of this device, which signs and is shown in TLS.
///
/// `Sendable`, because an `EVP_PKEY` is not changed after it was made and counts its references
/// atomically; each signature has a context of its own.
package final class DeviceKey: Sendable {
    /// More than any key file of a kind that is accepted.
    private static let longestPEM = 16 * 1024

    /// Never changed, see above.
    nonisolated(unsafe) let raw: OpaquePointer
    private let publicKey: PublicKey

    private init(owning raw: OpaquePointer) throws(OpenSSLError) {
        guard let publicKey = PublicKey(of: raw) else {
            EVP_PKEY_free(raw)
            throw OpenSSLError(call: "i2d_PUBKEY", reason: "neither an Ed25519 nor a P-256 key")
        }
        self.raw = raw
        self.publicKey = publicKey
    }

    deinit { EVP_PKEY_free(raw) }

    /// Makes a new Ed25519 key. Calls `EVP_PKEY_generate`.
    package static func generate() throws(OpenSSLError) -> DeviceKey {
        let context = try OpenSSLError.object("EVP_PKEY_CTX_new_from_name") {
            EVP_PKEY_CTX_new_from_name(nil, "ED25519", nil)
        }
        defer { EVP_PKEY_CTX_free(context) }
        try OpenSSLError.check("EVP_PKEY_keygen_init") { EVP_PKEY_keygen_init(context) }
        let key = try OpenSSLError.object("EVP_PKEY_generate") {
            var key: OpaquePointer?
            return EVP_PKEY_generate(context, &key) == 1 ? key : nil
        }
        return try DeviceKey(owning: key)
    }

    /// Reads the bytes of a key file: PEM, PKCS #8, not encrypted, Ed25519 or P-256.
    ///
    /// Calls `PEM_read_bio_PrivateKey`, and never asks for a password.
    package convenience init(pem: [UInt8]) throws(OpenSSLError) {
        guard let count = Int32(exactly: pem.count), pem.count <= Self.longestPEM else {
            throw OpenSSLError(call: "PEM_read_bio_PrivateKey", reason: "too long for a key")
        }
        OpenSSLError.clearQueue()
        let key = pem.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, count) else { return nil }
            defer { BIO_free(source) }
            return PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key else { throw .current("PEM_read_bio_PrivateKey") }
        try self.init(owning: key)
    }

    /// What goes into a key file, for its owner's eyes only: PEM, PKCS #8, not encrypted.
    ///
    /// Calls `PEM_write_bio_PKCS8PrivateKey`.
    package func pem() throws(OpenSSLError) -> [UInt8] {
        let sink = try OpenSSLError.object("BIO_new") { BIO_new(BIO_s_secmem()) }
        defer { BIO_free(sink) }
        try OpenSSLError.check("PEM_write_bio_PKCS8PrivateKey") {
            PEM_write_bio_PKCS8PrivateKey(sink, raw, nil, nil, 0, nil, nil)
        }
        let count = BIO_ctrl_pending(sink)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, Int(BIO_read(sink, buffer.baseAddress, Int32(count))))
        }
    }

    /// The public key as DER SubjectPublicKeyInfo; its SHA-256 is the device's id.
    package var spki: [UInt8] { publicKey.spki }

    /// Signs `message`: 64 bytes for Ed25519, a DER pair over SHA-256 for P-256.
    ///
    /// Calls `EVP_DigestSign`.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        OpenSSLError.require { () throws(OpenSSLError) in
            let context = try OpenSSLError.object("EVP_MD_CTX_new") { EVP_MD_CTX_new() }
            defer { EVP_MD_CTX_free(context) }
            try OpenSSLError.check("EVP_DigestSignInit") {
                EVP_DigestSignInit(context, nil, publicKey.digest, nil, raw)
            }
            var count = 0
            try OpenSSLError.check("EVP_DigestSign") {
                EVP_DigestSign(context, nil, &count, message, message.count)
            }
            var signature = [UInt8](repeating: 0, count: count)
            try OpenSSLError.check("EVP_DigestSign") {
                EVP_DigestSign(context, &signature, &count, message, message.count)
            }
            return Array(signature.prefix(count))
        }
    }

    /// Whether `signature` over `message` was made by the key `spki`.
    ///
    /// All three may come from a peer: false where `spki` is no Ed25519 or P-256 key in its one
    /// accepted encoding, or `signature` is of no possible length.
    package static func verify(signature: [UInt8], message: [UInt8], spki: [UInt8]) -> Bool {
        // The longest P-256 signature has 72 bytes.
        guard (1...72).contains(signature.count), let key = PublicKey(spki: spki) else {
            return false
        }
        return key.verify(signature: signature, message: message)
    }

    /// Whether `spki` is a key that `verify` and TLS accept.
    package static func accepts(spki: [UInt8]) -> Bool { PublicKey(spki: spki) != nil }
}
