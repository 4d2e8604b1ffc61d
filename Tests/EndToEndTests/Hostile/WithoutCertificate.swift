import ChuteSystem
import TestSupport
import Testing

/// A client that shows no certificate, which OpenSSL's contexts of this project cannot be.
enum WithoutCertificate {
    /// Connects so many times, one after the other: each handshake must end in an alert, whatever
    /// is sent after it.
    static func connect(_ count: Int, to port: FreePort, as home: AgentHome) async throws {
        let result = try await home.start(
            program: "/usr/bin/python3",
            ["-c", script, BytePath("\(port.number)"), BytePath("\(count)")]
        ).finished()
        #expect(result.exitCode == 0, "\(result.error)")
    }

    private static let script: BytePath = """
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["chute/1"])
        for _ in range(int(sys.argv[2])):
            plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
            try:
                stream = context.wrap_socket(plain)
                stream.sendall(bytes([0, 0, 0, 4, 1, 0xA1, 0, 0]))
                data = stream.recv(100)
                if data:
                    sys.exit("got %r" % data)
            except ssl.SSLError as error:
                if "ALERT" not in str(error):
                    sys.exit(str(error))
            except ConnectionError:
                pass
            plain.close()
        """
}
