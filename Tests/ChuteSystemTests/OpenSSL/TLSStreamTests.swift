import COpenSSL
import Glibc
import Testing

@testable import ChuteSystem

@Suite struct TLSStreamTests {
    @Test func `two devices see each other's keys`() throws {
        let pair = try TLSPair()
        try pair.handshake()
        #expect(pair.client.peerSPKI == pair.serverKey.spki)
        #expect(pair.server.peerSPKI == pair.clientKey.spki)
    }

    @Test func `a P-256 device is as good as an Ed25519 one`() throws {
        let key = try DeviceKey(pem: Array(DeviceKeyTests.p256.utf8))
        for pair in [try TLSPair(clientKey: key), try TLSPair(serverKey: key)] {
            try pair.handshake()
            #expect(pair.client.peerSPKI == pair.serverKey.spki)
            #expect(pair.server.peerSPKI == pair.clientKey.spki)
        }
    }

    @Test func `both ends export the same key material, others do not`() throws {
        let (pair, other) = (try TLSPair(), try TLSPair())
        try pair.handshake()
        try other.handshake()
        func export(_ stream: TLSStream, _ label: String, _ context: [UInt8]) throws -> [UInt8] {
            try stream.exportKeyingMaterial(label: label, context: context, count: 32)
        }
        let ours = try export(pair.client, "EXPORTER-test", [1])
        #expect(ours.count == 32)
        #expect(try export(pair.server, "EXPORTER-test", [1]) == ours)
        #expect(try export(pair.server, "EXPORTER-other", [1]) != ours)
        #expect(try export(pair.server, "EXPORTER-test", [2]) != ours)
        #expect(try export(other.client, "EXPORTER-test", [1]) != ours)
    }

    @Test func `no key material before the handshake`() throws {
        let pair = try TLSPair()
        #expect(throws: OpenSSLError.self) {
            try pair.client.exportKeyingMaterial(label: "EXPORTER-x", context: [], count: 32)
        }
    }

    @Test(arguments: ["http/1.1", "chute/2", "chute/11", ""])
    func `a peer of another protocol is refused`(name: String) throws {
        let wire = name.isEmpty ? [] : [UInt8(name.utf8.count)] + Array(name.utf8)
        let client = try TLSPair()
        #expect(SSL_set_alpn_protos(client.client.raw, wire, UInt32(wire.count)) == 0)
        #expect(throws: OpenSSLError.self) { try client.handshake() }
        #expect(client.server.peerSPKI.isEmpty)
    }

    @Test func `a server that chooses no protocol is refused`() throws {
        let context = try TLSContext(key: .generate())
        SSL_CTX_set_alpn_select_cb(context.raw, { _, _, _, _, _, _ in SSL_TLSEXT_ERR_NOACK }, nil)
        let pair = try TLSPair(serverContext: context)
        #expect(throws: OpenSSLError.self) { try pair.handshake() }
        #expect(pair.client.peerSPKI.isEmpty)
    }

    @Test func `a client without a certificate is refused`() throws {
        let pair = try TLSPair()
        SSL_certs_clear(pair.client.raw)
        let error = #expect(throws: OpenSSLError.self) { try pair.handshake() }
        #expect(error?.reason == "peer did not return a certificate")
        #expect(pair.server.peerSPKI.isEmpty)
    }

    @Test func `a client with a key of another kind is refused`() throws {
        let contexts = (try TLSContext(key: .generate()), try TLSContext(key: .generate()))
        // Both may use Ed448 here, so that only the look at the certificate can refuse it.
        for context in [contexts.0, contexts.1] {
            #expect(chute_SSL_CTX_set1_sigalgs_list(context.raw, "ed448:ed25519") == 1)
        }
        let pair = try TLSPair(clientContext: contexts.0, serverContext: contexts.1)
        let maker = EVP_PKEY_CTX_new_from_name(nil, "ED448", nil)
        defer { EVP_PKEY_CTX_free(maker) }
        var key: OpaquePointer?
        #expect(EVP_PKEY_keygen_init(maker) == 1 && EVP_PKEY_generate(maker, &key) == 1)
        defer { EVP_PKEY_free(key) }
        let certificate = X509_new()
        defer { X509_free(certificate) }
        for time in [X509_getm_notBefore(certificate), X509_getm_notAfter(certificate)] {
            X509_gmtime_adj(time, 0)
        }
        #expect(X509_set_pubkey(certificate, key) == 1 && X509_sign(certificate, key, nil) > 0)
        #expect(SSL_use_certificate(pair.client.raw, certificate) == 1)
        #expect(SSL_use_PrivateKey(pair.client.raw, key) == 1)
        let error = #expect(throws: OpenSSLError.self) { try pair.handshake() }
        #expect(error?.reason == "certificate verify failed")
        #expect(pair.server.peerSPKI.isEmpty)
    }

    @Test func `a client that speaks only TLS 1 2 is refused`() throws {
        let context = try TLSContext(key: .generate())
        #expect(chute_SSL_CTX_set_min_proto_version(context.raw, TLS1_2_VERSION) == 1)
        #expect(chute_SSL_CTX_set_max_proto_version(context.raw, TLS1_2_VERSION) == 1)
        #expect(SSL_CTX_set_cipher_list(context.raw, "ALL") == 1)
        let pair = try TLSPair(clientContext: context)
        #expect(throws: OpenSSLError.self) { try pair.handshake() }
    }

    @Test func `a session is never resumed`() throws {
        let contexts = (try TLSContext(key: .generate()), try TLSContext(key: .generate()))
        let first = try TLSPair(clientContext: contexts.0, serverContext: contexts.1)
        try first.handshake()
        try first.send([1, 2, 3], from: first.server, to: first.client)
        // The client has read beyond the place where tickets would come.
        let session = SSL_get1_session(first.client.raw)
        defer { SSL_SESSION_free(session) }
        #expect(SSL_SESSION_is_resumable(session) == 0)
        #expect(SSL_SESSION_has_ticket(session) == 0)
        let second = try TLSPair(clientContext: contexts.0, serverContext: contexts.1)
        #expect(SSL_set_session(second.client.raw, session) == 1)
        try second.handshake()
        #expect(SSL_session_reused(second.client.raw) == 0)
        #expect(SSL_session_reused(second.server.raw) == 0)
        #expect(!second.server.peerSPKI.isEmpty)
    }

    @Test func `an end that was said is clean, one that was not is a cut`() throws {
        let clean = try TLSPair()
        try clean.handshake()
        try clean.send([7], from: clean.client, to: clean.server)
        clean.client.shutdown()
        #expect(try clean.readOnce(clean.server) == .closed(clean: true))

        let cut = try TLSPair()
        try cut.handshake()
        try cut.send([7], from: cut.client, to: cut.server)
        #expect(Glibc.shutdown(cut.client.descriptorNumber, Int32(SHUT_WR)) == 0)
        #expect(try cut.readOnce(cut.server) == .closed(clean: false))
        // A stream that is broken says no goodbye, and does not trap either.
        cut.server.shutdown()
    }

    @Test func `a peer that hangs up in the handshake is an error`() throws {
        let pair = try TLSPair()
        #expect(try pair.client.handshake() == .wantsRead)
        #expect(Glibc.shutdown(pair.server.descriptorNumber, Int32(SHUT_RDWR)) == 0)
        #expect(throws: OpenSSLError.self) { try pair.client.handshake() }
    }

    @Test func `writing to a peer that is gone is an error`() throws {
        let pair = try TLSPair()
        try pair.handshake()
        #expect(Glibc.shutdown(pair.server.descriptorNumber, Int32(SHUT_RDWR)) == 0)
        #expect(throws: OpenSSLError.self) {
            try [1].withUnsafeBytes { try pair.client.write($0) }
        }
    }

    @Test func `garbage is an error at either end`() throws {
        for isServer in [true, false] {
            let pair = try TLSPair()
            let (victim, liar) =
                isServer ? (pair.server, pair.client) : (pair.client, pair.server)
            let garbage = [UInt8](repeating: 0x9b, count: 5000)
            #expect(Glibc.write(liar.descriptorNumber, garbage, garbage.count) == garbage.count)
            #expect(throws: OpenSSLError.self) {
                while try victim.handshake() != .done {}
            }
        }
    }

    @Test func `waiting is told, and nothing is read into nothing`() throws {
        let pair = try TLSPair()
        #expect(try pair.server.handshake() == .wantsRead)
        try pair.handshake()
        #expect(try pair.readOnce(pair.client) == .wantsRead)
        #expect(try pair.client.write(UnsafeRawBufferPointer(start: nil, count: 0)) == .bytes(0))
        let empty = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        #expect(try pair.client.read(into: empty) == .bytes(0))
    }

    @Test func `what OpenSSL holds is pending`() throws {
        let pair = try TLSPair()
        try pair.handshake()
        _ = try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try pair.client.write($0) }
        var byte: [UInt8] = [0]
        #expect(try byte.withUnsafeMutableBytes { try pair.server.read(into: $0) } == .bytes(1))
        #expect(pair.server.pending == 99)
    }

    @Test(.timeLimit(.minutes(2)))
    func `64 MiB each way arrive as they were sent`() throws {
        let pair = try TLSPair()
        try pair.handshake()
        let total = 64 << 20
        var flows = [
            TLSFlow(from: pair.client, to: pair.server, total: total, seed: 1),
            TLSFlow(from: pair.server, to: pair.client, total: total, seed: 2),
        ]
        while flows.contains(where: { !$0.isDone }) {
            for index in flows.indices { try flows[index].step() }
        }
        for flow in flows { #expect(flow.sentDigest == flow.receivedDigest) }
    }
}
