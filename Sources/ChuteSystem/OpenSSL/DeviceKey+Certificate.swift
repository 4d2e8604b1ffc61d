import COpenSSL

extension DeviceKey {
    /// A self-signed certificate that says nothing but the public key.
    ///
    /// No name in it, always valid, a random serial. The caller frees it with `X509_free`. Calls
    /// `X509_sign`.
    func makeCertificate() throws(OpenSSLError) -> OpaquePointer {
        let certificate = try OpenSSLError.object("X509_new") { X509_new() }
        do throws(OpenSSLError) {
            try OpenSSLError.check("X509_set_version") {
                X509_set_version(certificate, Int(X509_VERSION_3))
            }
            try OpenSSLError.check("ASN1_INTEGER_set_uint64") {
                // 63 bits: a serial is positive.
                ASN1_INTEGER_set_uint64(
                    X509_get_serialNumber(certificate), Self.randomSerial())
            }
            try OpenSSLError.check("ASN1_TIME_set_string") {
                ASN1_TIME_set_string(X509_getm_notBefore(certificate), "20000101000000Z")
            }
            // What RFC 5280 writes for "no end".
            try OpenSSLError.check("ASN1_TIME_set_string") {
                ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z")
            }
            try OpenSSLError.check("X509_set_pubkey") { X509_set_pubkey(certificate, raw) }
            let digest = PublicKey(of: raw)?.digest
            try OpenSSLError.check("X509_sign") { X509_sign(certificate, raw, digest) }
        } catch {
            X509_free(certificate)
            throw error
        }
        return certificate
    }

    private static func randomSerial() -> UInt64 {
        let number = SecretBytes.random(count: 8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return number & UInt64(Int64.max) | 1
    }
}
