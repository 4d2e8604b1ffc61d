package import ChuteSystem
import Glibc
import Synchronization

/// A reverse proxy that a test runs, as its users set it up: TLS outside, the header of an upgrade
/// passed on, and the time-outs that it has by itself.
package final class ReverseProxy: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case nginx, haproxy, caddy

        /// Where the tests can run it.
        fileprivate var program: BytePath? { ProcessEnvironment.current.program(rawValue) }
    }

    /// Where it takes connections, on this host.
    package let port: UInt16
    private let kind: Kind
    private let folder: BytePath
    private let program: BytePath
    private let running = Mutex<RunningProgram?>(nil)

    /// Starts one in `folder` that passes everything on to a port of this host.
    package init(
        _ kind: Kind, in folder: BytePath, certificate: TestCertificate, backend: UInt16
    ) async throws {
        guard let program = kind.program else {
            throw NeverHappened(what: "\(kind.rawValue) is installed")
        }
        self.kind = kind
        self.folder = folder.appending(BytePath("\(kind.rawValue)"))
        self.program = program
        // Free a moment ago.
        port = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0)).address.port
        _ = try Folder(at: folder).makeFolder(self.folder.lastComponent)
        try write(Self.pair(certificate), to: "pair.pem")
        try write(configuration(certificate, backend), to: "configuration")
        try await start()
    }

    /// The URL of a WebSocket behind it.
    package var url: String { "wss://localhost:\(port)/chute" }

    /// Starts it again.
    package func start() async throws {
        let program = try RunningProgram(program, arguments, environment: environment)
        running.withLock { $0 = program }
        let address = SocketAddress(host: "127.0.0.1", port: port)
        try await eventually("\(kind.rawValue) runs: \(try program.errorSoFar())") {
            do { _ = try await Socket.connect(to: address) } catch { return false }
            return true
        }
    }

    /// Ends it at once, with its connections.
    package func stop() async throws {
        guard let program = running.withLock({ $0.take() }) else { return }
        program.send(signal: SIGTERM)
        _ = try await program.finished()
    }

    private var arguments: [BytePath] {
        let file = folder.appending("configuration")
        switch kind {
        case .nginx: return ["-c", file, "-e", folder.appending("errors"), "-p", folder]
        case .haproxy: return ["-db", "-f", file]
        case .caddy: return ["run", "--adapter", "caddyfile", "--config", file]
        }
    }

    private var environment: ProcessEnvironment {
        ProcessEnvironment(["HOME": folder, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    }

    private func configuration(_ certificate: TestCertificate, _ backend: UInt16) -> String {
        switch kind {
        case .nginx: nginx(certificate, backend)
        case .haproxy:
            """
            defaults
              mode http
              timeout connect 5000
              timeout client 50000
              timeout server 50000
            frontend outside
              bind 127.0.0.1:\(port) ssl crt \(folder)/pair.pem
              option forwardfor
              default_backend inside
            backend inside
              server chute 127.0.0.1:\(backend)

            """
        case .caddy:
            """
            {
              auto_https off
              admin off
            }
            https://localhost:\(port) {
              bind 127.0.0.1
              tls \(certificate.certificate) \(certificate.key)
              reverse_proxy 127.0.0.1:\(backend)
            }

            """
        }
    }

    private func nginx(_ certificate: TestCertificate, _ backend: UInt16) -> String {
        """
        \(geteuid() == 0 ? "user root;" : "")
        daemon off;
        worker_processes 1;
        pid \(folder)/pid;
        events {}
        http {
          access_log off;
          client_body_temp_path \(folder)/body;
          proxy_temp_path \(folder)/proxy;
          fastcgi_temp_path \(folder)/fastcgi;
          uwsgi_temp_path \(folder)/uwsgi;
          scgi_temp_path \(folder)/scgi;
          server {
            listen 127.0.0.1:\(port) ssl;
            ssl_certificate \(certificate.certificate);
            ssl_certificate_key \(certificate.key);
            location / {
              proxy_pass http://127.0.0.1:\(backend);
              proxy_http_version 1.1;
              proxy_set_header Upgrade $http_upgrade;
              proxy_set_header Connection "upgrade";
              proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            }
          }
        }

        """
    }

    private static func pair(_ certificate: TestCertificate) throws -> String {
        try [certificate.certificate, certificate.key].map { path in
            let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
            return String(decoding: try file.read(count: 64 << 10, at: 0), as: UTF8.self)
        }.joined()
    }

    private func write(_ text: String, to name: BytePath) throws {
        let file = try Folder(at: folder).open(name, FileDescriptor.readWriteCreate, mode: 0o600)
        try file.truncate(to: 0)
        try file.write(Array(text.utf8), at: 0)
    }
}
