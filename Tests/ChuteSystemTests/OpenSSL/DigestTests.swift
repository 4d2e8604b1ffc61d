import ChuteSystem
import Testing

@Suite struct DigestTests {
    @Test func `known digests come out`() {
        #expect(
            Hexadecimal.text(SHA256.hash([]))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Hexadecimal.text(SHA256.hash(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func `a hasher gives the same in portions, and again after finish`() {
        let hasher = SHA256()
        for _ in 0..<2 {
            hasher.update(Array("a".utf8))
            hasher.update([])
            hasher.update(Array("bc".utf8))
            #expect(hasher.finish() == SHA256.hash(Array("abc".utf8)))
        }
        #expect(hasher.finish() == SHA256.hash([]))
    }

    @Test func `a digest may be written over what was hashed`() {
        var bytes = [UInt8](repeating: 3, count: 64)
        let expected = SHA256.hash(bytes)
        bytes.withUnsafeMutableBytes { bytes in
            let hasher = SHA256()
            hasher.update(UnsafeRawBufferPointer(bytes))
            hasher.finish(into: bytes)
        }
        #expect(Array(bytes[..<32]) == expected)
    }

    @Test func `HMAC is that of RFC 4231`() {
        // Test case 2 there.
        let code = SHA256.authenticationCode(
            for: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(
            Hexadecimal.text(code)
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(SHA256.authenticationCode(for: [], key: []).count == 32)
    }

    @Test func `HKDF is that of RFC 5869`() {
        // Test cases 1 and 3 there; the latter without salt and info.
        let secret = [UInt8](repeating: 0x0b, count: 22)
        let key = SHA256.deriveKey(
            from: secret, salt: Array(0...12), info: Array(0xf0...0xf9), count: 42)
        #expect(
            Hexadecimal.text(key)
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        )
        #expect(
            Hexadecimal.text(SHA256.deriveKey(from: secret, info: [], count: 42))
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        )
    }

    @Test func `secrets are equal only byte for byte`() {
        #expect(SecretBytes.equal([], []))
        #expect(SecretBytes.equal([1, 2], [1, 2]))
        #expect(!SecretBytes.equal([1, 2], [1, 3]))
        #expect(!SecretBytes.equal([1, 2], [1, 2, 0]))
    }

    @Test func `random bytes are as many as asked for and differ`() {
        #expect(SecretBytes.random(count: 0).isEmpty)
        #expect(SecretBytes.random(count: 32).count == 32)
        #expect(SecretBytes.random(count: 32) != SecretBytes.random(count: 32))
    }
}
