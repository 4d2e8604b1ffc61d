import COpenSSL
import Testing

@testable import ChuteSystem

@Suite struct DeviceKeyTests {
    /// A P-256 key made for these tests alone, PKCS #8.
    static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgm+o9o5Pq0n3JZjb0
        vOgCkTkjkSQQH0MdGA16/mZhkL6hRANCAARErkUnZlRz+HYTqrysmc9UvAg8g1QH
        Ua5hAX9C+EaWNzUOFGnZJqwtvaAwB1HkTRx1kVTlhUJvZS4trHOyPMjb
        -----END PRIVATE KEY-----
        """
    /// An RSA key of 512 bits made for these tests alone.
    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIIBVQIBADANBgkqhkiG9w0BAQEFAASCAT8wggE7AgEAAkEA1W/8K8oVuHcBwrKe
        haSpvgJznCy/Ak79N4x6+QTvFe2oF1pARIddYrH4/1klttLFyi66D3c0MwhU55aF
        kZsGgQIDAQABAkBl+NXC2g7cjccCjTIdaZlLVYKEmAA+Cx0BgBV0ib3sfDm3ov9n
        0gApOSkpkoy/f13JeqJDIiLRDNeJtxRWzl/tAiEA/3+ngKAAfzDuOQeAh6LLL6ZW
        ORJmz6bt4dhWEBbb1EMCIQDV2zOzZX6RxWerDD9rn55Ewcl6eWCiAUsVevEJUc/P
        6wIhAJwM/+WT1DnbTOUQK/Sr/aYQ1kDteFYEAu8aDxasn3+5AiBDLnVzafL1ADqs
        9VAHE0G4/9e3beH5gsZ/nPuTnevWuQIhANesEe7q+z8iJEJXxIpIoBGIOwZeg40N
        fgKP7bB5lc9m
        -----END PRIVATE KEY-----
        """

    static func keys() throws -> [DeviceKey] {
        [try .generate(), try DeviceKey(pem: Array(p256.utf8))]
    }

    @Test func `a key signs what its public key verifies`() throws {
        for key in try Self.keys() {
            let other = try DeviceKey.generate()
            for message in [[], Array("message".utf8)] as [[UInt8]] {
                let signature = key.sign(message)
                #expect(
                    DeviceKey.verify(signature: signature, message: message, spki: key.spki))
                #expect(
                    !DeviceKey.verify(
                        signature: signature, message: message + [0], spki: key.spki))
                #expect(
                    !DeviceKey.verify(signature: signature, message: message, spki: other.spki))
                var wrong = signature
                wrong[wrong.count - 1] ^= 1
                #expect(!DeviceKey.verify(signature: wrong, message: message, spki: key.spki))
                for length in [0, 1, 63, 73, 10_000] {
                    let bytes = [UInt8](repeating: 0x30, count: length)
                    #expect(!DeviceKey.verify(signature: bytes, message: message, spki: key.spki))
                }
            }
        }
    }

    @Test func `a key survives its file`() throws {
        for key in try Self.keys() {
            let pem = try key.pem()
            #expect(pem.starts(with: Array("-----BEGIN PRIVATE KEY-----\n".utf8)))
            let again = try DeviceKey(pem: pem)
            #expect(again.spki == key.spki)
            let signature = again.sign([1, 2, 3])
            #expect(DeviceKey.verify(signature: signature, message: [1, 2, 3], spki: key.spki))
        }
    }

    @Test func `new keys differ`() throws {
        #expect(try DeviceKey.generate().spki != DeviceKey.generate().spki)
    }

    @Test func `a file that holds no accepted key is an error`() throws {
        let pem = try DeviceKey.generate().pem()
        let cases: [[UInt8]] = [
            [], Array("garbage".utf8), pem.dropLast(40), [UInt8](repeating: 10, count: 1 << 20),
            Array(Self.rsa.utf8),
        ]
        for bytes in cases {
            #expect(throws: OpenSSLError.self) { try DeviceKey(pem: bytes) }
        }
    }

    @Test func `a public key has one encoding`() throws {
        for key in try Self.keys() {
            let spki = key.spki
            #expect(DeviceKey.accepts(spki: spki))
            #expect(!DeviceKey.accepts(spki: spki + [0]))
            #expect(!DeviceKey.accepts(spki: spki.dropLast()))
            for index in 0..<12 {
                var wrong = spki
                wrong[index] ^= 0x40
                #expect(!DeviceKey.accepts(spki: wrong))
            }
        }
        #expect(!DeviceKey.accepts(spki: []))
    }

    @Test func `a point off the curve verifies nothing`() throws {
        let key = try DeviceKey(pem: Array(Self.p256.utf8))
        let signature = key.sign([1])
        var spki = key.spki
        spki[spki.count - 1] ^= 1
        #expect(!DeviceKey.verify(signature: signature, message: [1], spki: spki))
    }

    @Test func `the certificate says only the key`() throws {
        for key in try Self.keys() {
            let certificate = try key.makeCertificate()
            defer { X509_free(certificate) }
            #expect(PublicKey(certificate: certificate)?.spki == key.spki)
            #expect(X509_verify(certificate, key.raw) == 1)
            #expect(X509_NAME_entry_count(X509_get_subject_name(certificate)) == 0)
            #expect(X509_NAME_entry_count(X509_get_issuer_name(certificate)) == 0)
            #expect(X509_get_ext_count(certificate) == 0)
        }
    }
}
