package import ChuteSystem
import Glibc
import Synchronization

/// Hosts of their own on one switch: network namespaces whose interfaces are ports of a bridge
/// in another one. Only root can make them.
package enum NetworkNamespaces {
    /// One host.
    package struct Host: Hashable, Sendable {
        package let namespace: String
        /// Its address on the switch.
        package let address: String

        /// What stands before a command line so that it runs on this host.
        package var prefix: [BytePath] {
            [ip, "netns", "exec", BytePath(namespace)]
        }
    }

    /// Whether this process may make them.
    package static let areAvailable: Bool = {
        guard TestUser.isRoot else { return false }
        let name = BytePath(uniqueName())
        guard (try? run("netns", "add", name)) != nil else { return false }
        return (try? run("netns", "delete", name)) != nil
    }()

    private static let ip: BytePath =
        access("/usr/sbin/ip", X_OK) == 0 ? "/usr/sbin/ip" : "/sbin/ip"
    private static let made = Mutex(0)

    /// Calls `body` with `count` hosts that reach each other, and removes them afterwards.
    package static func with<Result>(
        _ count: Int, _ body: ([Host]) async throws -> Result
    ) async throws -> Result {
        let base = uniqueName()
        let bridge = BytePath(base + "s")
        let hosts = (1...count).map {
            Host(namespace: "\(base)h\($0)", address: "10.77.0.\($0)")
        }
        let result: Result
        do {
            try connect(hosts, to: bridge)
            result = try await body(hosts)
        } catch {
            remove([bridge] + hosts.map { BytePath($0.namespace) })
            throw error
        }
        remove([bridge] + hosts.map { BytePath($0.namespace) })
        return result
    }

    /// Calls `body` with three hosts of which the first and the last reach only the one between,
    /// which passes nothing on, and removes them afterwards.
    package static func withChain<Result>(
        _ body: ([Host]) async throws -> Result
    ) async throws -> Result {
        let base = uniqueName()
        let hosts = ["10.77.1.1", "10.77.1.2", "10.77.2.1"].enumerated().map { index, address in
            Host(namespace: "\(base)c\(index)", address: address)
        }
        let names = hosts.map { BytePath($0.namespace) }
        let result: Result
        do {
            for name in names { try run("netns", "add", name) }
            for name in names { try run("-n", name, "link", "set", "lo", "up") }
            try run("netns", "exec", names[1], "/bin/sh", "-c", stopForwarding)
            try join(names[0], "10.77.1.1/24", names[1], "10.77.1.2/24", port: "eth0")
            try join(names[2], "10.77.2.1/24", names[1], "10.77.2.2/24", port: "eth1")
            // No route: what the one between does not pass on itself stays where it is.
            guard (try? run("-n", names[0], "route", "get", "10.77.2.1")) == nil else {
                throw NeverHappened(what: "hosts that do not reach each other")
            }
            result = try await body(hosts)
        } catch {
            remove(names)
            throw error
        }
        remove(names)
        return result
    }

    private static let stopForwarding = BytePath(
        "for f in ipv4/ip_forward ipv6/conf/all/forwarding; do "
            + "[ ! -e /proc/sys/net/$f ] || echo 0 > /proc/sys/net/$f; done")

    /// A cable from `eth0` of an outer host to `port` of the one between.
    private static func join(
        _ outer: BytePath, _ outerAddress: BytePath, _ inner: BytePath, _ innerAddress: BytePath,
        port: BytePath
    ) throws {
        try run(
            "-n", inner, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns",
            outer)
        for (host, device, address) in [
            (outer, "eth0", outerAddress), (inner, port, innerAddress),
        ] as [(BytePath, BytePath, BytePath)] {
            try run("-n", host, "address", "add", address, "dev", device)
            try run("-n", host, "link", "set", device, "up")
        }
    }

    private static func connect(_ hosts: [Host], to bridge: BytePath) throws {
        try run("netns", "add", bridge)
        try run("-n", bridge, "link", "add", "sw", "type", "bridge")
        try run("-n", bridge, "link", "set", "sw", "up")
        for (index, host) in hosts.enumerated() {
            let namespace = BytePath(host.namespace)
            let port = BytePath("p\(index)")
            try run("netns", "add", namespace)
            try run(
                "-n", bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0",
                "netns", namespace)
            try run("-n", bridge, "link", "set", port, "master", "sw", "up")
            try run("-n", namespace, "link", "set", "lo", "up")
            try run(
                "-n", namespace, "address", "add", BytePath(host.address + "/24"), "dev", "eth0")
            try run("-n", namespace, "link", "set", "eth0", "up")
        }
    }

    /// Removes namespaces, and with them the interfaces in them.
    private static func remove(_ namespaces: [BytePath]) {
        for namespace in namespaces { _ = try? run("netns", "delete", namespace) }
    }

    private static func uniqueName() -> String {
        "chute\(getpid())-\(made.withLock { $0 += 1; return $0 })"
    }

    /// Runs a program on a host to its end; throws where it fails.
    @discardableResult
    package static func run(_ words: [BytePath], on host: Host) throws -> CapturedRun {
        let all = host.prefix + words
        return try run(all[0], Array(all.dropFirst()))
    }

    /// Connects two hosts by a cable that ends at each in an interface of this name, which has
    /// only its link-local address of IPv6.
    package static func addCable(_ interface: BytePath, from one: Host, to other: Host) throws {
        let (one, other) = (BytePath(one.namespace), BytePath(other.namespace))
        try run(
            "-n", one, "link", "add", interface, "type", "veth", "peer", "name", interface,
            "netns", other)
        for host in [one, other] { try run("-n", host, "link", "set", interface, "up") }
    }

    /// Runs `ip` for a host.
    @discardableResult
    package static func ip(_ words: BytePath..., on host: Host) throws -> CapturedRun {
        try run(ip, ["-n", BytePath(host.namespace)] + words)
    }

    @discardableResult
    private static func run(_ words: BytePath...) throws -> CapturedRun { try run(ip, words) }

    private static func run(_ program: BytePath, _ words: [BytePath]) throws -> CapturedRun {
        let run = try CapturedRun(program, words)
        guard run.end == .exited(0) else {
            throw CommandFailure(
                words: [program] + words, said: String(decoding: run.error, as: UTF8.self))
        }
        return run
    }

    private struct CommandFailure: Error, CustomStringConvertible {
        let words: [BytePath]
        let said: String

        var description: String {
            "`\(words.map(\.description).joined(separator: " "))`: \(said)"
        }
    }
}
