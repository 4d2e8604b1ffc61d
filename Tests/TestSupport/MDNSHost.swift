package import ChuteSystem
import Glibc

/// A host of a test with a D-Bus of its own, on which an Avahi daemon may run. Only root can
/// start one.
package struct MDNSHost: Sendable {
    package let network: NetworkNamespaces.Host
    /// Of this host alone, for its sockets.
    private let folder: BytePath
    private let settings: DaemonSettings

    /// What the configuration of the daemons has more, line by line.
    package struct DaemonSettings: Sendable {
        let server: String
        let publish: String

        package init(server: String = "", publish: String = "") {
            self.server = server
            self.publish = publish
        }
    }

    /// Whether the programs are installed.
    package static let areAvailable: Bool =
        NetworkNamespaces.areAvailable && access("/usr/sbin/avahi-daemon", X_OK) == 0
        && access("/usr/bin/dbus-daemon", X_OK) == 0

    /// Calls `body` with `count` hosts on one switch on which no daemon runs yet.
    package static func with<Result>(
        _ count: Int, _ settings: DaemonSettings = DaemonSettings(),
        _ body: ([MDNSHost]) async throws -> Result
    ) async throws -> Result {
        try await NetworkNamespaces.with(count) { networks in
            try await withTemporaryDirectory { top in
                _ = top.withCString { chmod($0, 0o711) }  // agents are other users
                let hosts = try networks.map { network in
                    let name = BytePath(network.namespace)
                    try Folder(at: top).makeFolder(name)
                    _ = top.appending(name).withCString { chmod($0, 0o755) }
                    let host = MDNSHost(
                        network: network, folder: top.appending(name), settings: settings)
                    try host.writeConfigurations()
                    return host
                }
                return try await body(hosts)
            }
        }
    }

    /// What programs of this host need in their environment: where its D-Bus is, or would be. That
    /// of the machine that runs the tests is none of theirs.
    package var variables: [String: BytePath] { ["DBUS_SYSTEM_BUS_ADDRESS": bus] }

    private var bus: BytePath { BytePath(bytes: Array("unix:path=".utf8) + socket.bytes) }
    private var socket: BytePath { folder.appending("bus") }

    /// Calls `body` while each of these hosts has a D-Bus and a daemon that answers.
    package static func withDaemons<Result>(
        on hosts: [MDNSHost], _ body: ([AvahiDaemon]) async throws -> Result
    ) async throws -> Result {
        var daemons: [AvahiDaemon] = []
        let result: Result
        do {
            for host in hosts { daemons.append(try await AvahiDaemon(on: host)) }
            result = try await body(daemons)
        } catch {
            for daemon in daemons { try await daemon.stop() }
            throw error
        }
        for daemon in daemons { try await daemon.stop() }
        return result
    }

    private func writeConfigurations() throws {
        try SampleFiles.write(Array(busConfiguration.utf8), to: folder.appending("bus.conf"))
        try SampleFiles.write(Array(daemonConfiguration.utf8), to: folder.appending("avahi.conf"))
    }

    func startBus() throws -> RunningProgram {
        _ = socket.withCString { unlink($0) }
        return try start([
            "/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--nosyslog",
            BytePath(bytes: Array("--config-file=".utf8) + folder.appending("bus.conf").bytes),
        ])
    }

    var hasBus: Bool { socket.withCString { access($0, F_OK) } == 0 }

    /// Starts the daemon with a `/run` of its own.
    func startAvahi() throws -> RunningProgram {
        return try start([
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
            "mount --make-rprivate / && mount -t tmpfs tmpfs /run && exec \"$@\"", "sh",
            "/usr/sbin/avahi-daemon", "--no-drop-root", "--no-chroot", "--no-proc-title", "-f",
            folder.appending("avahi.conf"),
        ])
    }

    private func start(_ words: [BytePath]) throws -> RunningProgram {
        let all = network.prefix + words
        let variables: [String: BytePath] = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        return try RunningProgram(
            all[0], Array(all.dropFirst()),
            environment: ProcessEnvironment(variables.merging(self.variables) { $1 }))
    }

    private var busConfiguration: String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow user="*"/>
            <allow own="*"/>
            <allow send_type="method_call"/>
            <allow send_destination="*"/>
            <allow receive_sender="*"/>
          </policy>
        </busconfig>
        """
    }

    private var daemonConfiguration: String {
        """
        [server]
        host-name=\(network.namespace)
        use-ipv4=yes
        use-ipv6=yes
        ratelimit-interval-usec=0
        \(settings.server)
        [publish]
        \(settings.publish)
        publish-workstation=no
        publish-hinfo=no
        [rlimits]
        """
    }
}
