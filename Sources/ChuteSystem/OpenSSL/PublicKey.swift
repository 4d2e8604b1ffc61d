import COpenSSL

/// The public key of a device: Ed25519 or P-256, nothing else.
///
/// Holds the one encoding that is accepted of each kind (uncompressed point, named curve), so
/// that no key has two ids.
struct PublicKey {
    enum Kind { case ed25519, p256 }

    /// The DER head of an Ed25519 SubjectPublicKeyInfo; 32 bytes of key follow (RFC 8410).
    private static let ed25519Head: [UInt8] = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]
    /// The DER head of a P-256 SubjectPublicKeyInfo; 64 bytes of point follow (RFC 5480).
    private static let p256Head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
        0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    let kind: Kind
    let spki: [UInt8]

    /// `nil` unless `spki` is such a key, whole and with nothing behind it.
    init?(spki: [UInt8]) {
        if spki.count == Self.ed25519Head.count + 32, spki.starts(with: Self.ed25519Head) {
            kind = .ed25519
        } else if spki.count == Self.p256Head.count + 64, spki.starts(with: Self.p256Head) {
            kind = .p256
        } else {
            return nil
        }
        self.spki = spki
    }

    /// `nil` where `key` is of another kind. Calls `i2d_PUBKEY`.
    init?(of key: OpaquePointer) {
        self.init(spki: encoded { i2d_PUBKEY(key, $0) })
    }

    /// `nil` where the key in `certificate` is of another kind. Calls `i2d_X509_PUBKEY`.
    init?(certificate: OpaquePointer) {
        guard let key = X509_get_X509_PUBKEY(certificate) else { return nil }
        self.init(spki: encoded { i2d_X509_PUBKEY(key, $0) })
    }

    /// The digest that goes with a signature of this kind; Ed25519 has its own inside.
    var digest: OpaquePointer? { kind == .p256 ? SHA256.algorithm : nil }

    /// Whether `signature` over `message` was made with this key. Calls `EVP_DigestVerify`.
    func verify(signature: [UInt8], message: [UInt8]) -> Bool {
        OpenSSLError.clearQueue()
        defer { OpenSSLError.clearQueue() }
        guard let key = parsed() else { return false }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// A key object that the caller frees; `nil` where the point is not on the curve.
    private func parsed() -> OpaquePointer? {
        switch kind {
        case .ed25519:
            // The general decoder behind `d2i_PUBKEY` costs as much again as the verification.
            let bytes = Array(spki.dropFirst(Self.ed25519Head.count))
            return EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count)
        case .p256:
            return spki.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return d2i_PUBKEY(nil, &start, buffer.count)
            }
        }
    }
}

/// The bytes that one of OpenSSL's `i2d` functions writes; empty where it fails.
func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    let count = encode(nil)
    guard count > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
        var start = buffer.baseAddress
        filled = max(0, Int(encode(&start)))
    }
}
