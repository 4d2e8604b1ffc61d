import ChuteSystem
import Glibc

/// Two hosts at home, each behind a router of its own that translates addresses, and one outside.
/// Only root can make them.
package struct HomeNetworks: Sendable {
    package let homes: [NetworkNamespaces.Host]
    package let routers: [NetworkNamespaces.Host]
    package let outside: NetworkNamespaces.Host

    /// Whether the programs are installed.
    package static let areAvailable: Bool =
        NetworkNamespaces.areAvailable && access("/usr/sbin/nft", X_OK) == 0
        && access("/usr/sbin/miniupnpd", X_OK) == 0

    /// A network that `miniupnpd` takes for the internet, unlike those for documentation; it is a
    /// switch from which no way leads anywhere.
    package static let publicNetwork = "203.0.112."
    /// One by which the routers stand behind another one.
    package static let privateNetwork = "10.7.0."

    /// Calls `body` with all of them, and removes them afterwards. `outer` is how the addresses
    /// outside begin.
    package static func with<Result>(
        outer: String = publicNetwork, _ body: (HomeNetworks) async throws -> Result
    ) async throws -> Result {
        try await NetworkNamespaces.with(5) { hosts in
            func host(_ index: Int, _ address: String) -> NetworkNamespaces.Host {
                .init(namespace: hosts[index].namespace, address: address)
            }
            let networks = HomeNetworks(
                homes: [host(3, "192.168.77.2"), host(4, "192.168.78.2")],
                routers: [host(0, outer + "1"), host(1, outer + "2")],
                outside: host(2, outer + "9"))
            for host in networks.routers + [networks.outside] {
                try NetworkNamespaces.ip("address", "flush", "dev", "eth0", on: host)
                try NetworkNamespaces.ip(
                    "address", "add", BytePath(host.address + "/24"), "dev", "eth0", on: host)
            }
            for (home, router) in zip(networks.homes, networks.routers) {
                try connect(home, behind: router)
            }
            return try await body(networks)
        }
    }

    private static func connect(
        _ home: NetworkNamespaces.Host, behind router: NetworkNamespaces.Host
    ) throws {
        let inner = String(home.address.dropLast()) + "1"
        try NetworkNamespaces.ip("link", "delete", "eth0", on: home)
        try NetworkNamespaces.ip(
            "link", "add", "lan0", "type", "veth", "peer", "name", "eth0", "netns",
            BytePath(home.namespace), on: router)
        for (host, port, address) in [(router, "lan0", inner), (home, "eth0", home.address)] {
            let port = BytePath(port)
            try NetworkNamespaces.ip(
                "address", "add", BytePath(address + "/24"), "dev", port, on: host)
            try NetworkNamespaces.ip("link", "set", port, "up", on: host)
        }
        try NetworkNamespaces.ip("route", "add", "default", "via", BytePath(inner), on: home)
        try NetworkNamespaces.run(
            ["/bin/sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"], on: router)
        try NetworkNamespaces.run(["/usr/sbin/nft", BytePath(rules)], on: router)
    }

    /// What comes from inside passes under the router's address, and what answers it; the chains
    /// without rules are for `miniupnpd`.
    private static let rules = """
        table inet filter {
          chain miniupnpd {}
          chain prerouting_miniupnpd {}
          chain postrouting_miniupnpd {}
          chain forward {
            type filter hook forward priority 0; policy drop;
            ct state established,related accept
            iifname "lan0" accept
            jump miniupnpd
          }
          chain prerouting {
            type nat hook prerouting priority dstnat;
            jump prerouting_miniupnpd
          }
          chain postrouting {
            type nat hook postrouting priority srcnat;
            jump postrouting_miniupnpd
            oifname "eth0" masquerade
          }
        }
        """
}
