package import ChuteSystem

/// A certificate that signs itself, for names of this host, in files of a test's folder.
package struct TestCertificate: Sendable {
    /// In PEM: what a client trusts, and what a server shows.
    package let certificate: BytePath
    package let key: BytePath

    /// Makes one by the program `openssl`.
    package init(
        in folder: BytePath, name: String = "server", hosts: String = "DNS:localhost,IP:127.0.0.1"
    ) async throws {
        certificate = folder.appending(BytePath("\(name).pem"))
        key = folder.appending(BytePath("\(name).key"))
        guard let openssl = ProcessEnvironment.current.program("openssl") else {
            throw NeverHappened(what: "openssl is installed")
        }
        let made = try await RunningProgram(
            openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=Chute test", "-addext",
                BytePath("subjectAltName=\(hosts)"), "-keyout", key, "-out", certificate,
            ]
        ).finished()
        guard made.exitCode == 0 else { throw NeverHappened(what: made.error) }
    }

    /// For a server.
    package var forServer: ServerCertificate {
        ServerCertificate(certificate: certificate, key: key)
    }
}
