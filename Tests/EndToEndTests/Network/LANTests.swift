import ChuteSystem
import TestSupport
import Testing

/// Devices on one network that find each other without an address.
@Suite(.multicastDNS, .serialized, .timeLimit(.minutes(5)))
struct LANTests {
    @Test(arguments: [[0, 1, 2], [], [0]])
    func `three devices find each other, with the Avahi daemon, without, and mixed`(
        _ daemons: [Int]
    ) async throws {
        try await MDNSHost.with(3) { hosts in
            try await MDNSHost.withDaemons(on: daemons.map { hosts[$0] }) { _ in
                try await LANHomes.with(hosts) { lan in
                    try await lan.running { agents in
                        for (index, agent) in agents.enumerated() {
                            try await agent.awaitLAN(
                                daemons.contains(index) ? "by the Avahi daemon" : "built in")
                        }
                        try await lan.expectDelivery()
                        try await lan.homes[0].awaitDoctor(
                            daemons.contains(0)
                                ? "mDNS: by the Avahi daemon" : "mDNS: by Avahi's core",
                            "multicast: goes out", "multicast IPv6: goes out")
                    }
                }
            }
        }
    }

    @Test func `a newcomer joins by a ticket with addresses of the local network`() async throws {
        try await MDNSHost.with(2) { hosts in
            try await withAgentFolder { folder in
                try TestUser.withAccount.own(folder)
                let homes = try ["ada", "bob"].enumerated().map { index, name in
                    try AgentHome(name, in: folder, on: hosts[index])
                }
                for home in homes { try await home.setUp("--listen", "") }
                let lan = LANHomes(hosts: hosts, homes: homes)
                try await lan.running { _ in
                    let invited = try await homes[0].chute("-q", "invite", "--print")
                    let ticket = try #require(invited.output.split(separator: "\n").first)
                    let joined = try await homes[1].chute("join", BytePath(String(ticket)))
                    #expect(joined.exitCode == 0, "\(joined.error)")
                    try await lan.expectDelivery()
                }
            }
        }
    }

    @Test func `a device of another space is seen and never dialled`() async throws {
        try await MDNSHost.with(3) { hosts in
            try await MDNSHost.withDaemons(on: hosts) { _ in
                try await LANHomes.with(hosts, spaces: [0, 0, 1]) { lan in
                    let stranger = hosts[2].network
                    try countDials(on: stranger)
                    try await lan.running { agents in
                        try await lan.expectDelivery(among: [0, 1])
                        try await eventually("all three are seen") {
                            try seenServices(from: hosts[0]).count == 3
                        }
                        try await lan.expectDelivery(among: [0, 1], round: 1)
                        #expect(try dials(on: stranger) == 0)
                        // Nobody took the stranger for somebody else either.
                        #expect(try await lan.homes[2].status().peers.isEmpty)
                    }
                }
            }
        }
    }

    @Test func `a device does not look like itself after its next start`() async throws {
        try await MDNSHost.with(2) { hosts in
            try await MDNSHost.withDaemons(on: hosts) { _ in
                try await LANHomes.with([hosts[0]]) { lan in
                    var seen: [Set<String>] = []
                    for _ in 0..<2 {
                        try await lan.running { _ in
                            try await eventually("it is seen") {
                                let fields = try seenServices(from: hosts[1]).joined()
                                if fields.isEmpty { return false }
                                seen.append(Set(fields))
                                return true
                            }
                        }
                        try await eventually("it is gone") {
                            try seenServices(from: hosts[1]).isEmpty
                        }
                    }
                    // What is the same: type and version, interface, address and port.
                    let same = seen[0].intersection(seen[1])
                    let text = same.filter { $0.count > 1 && $0.contains("=") }
                    #expect(text == ["v=1"], "\(same)")
                    #expect(!same.contains { $0.hasSuffix(".local") }, "\(same)")
                }
            }
        }
    }

    @Test func `peers that found each other once meet again where mDNS is blocked`() async throws {
        try await MDNSHost.with(2) { hosts in
            try await LANHomes.with(hosts) { lan in
                try await lan.running { _ in try await lan.expectDelivery() }
                for host in hosts {
                    let rules = """
                        table inet chute {
                          chain in { type filter hook input priority 0; udp dport 5353 drop; }
                          chain out { type filter hook output priority 0; udp dport 5353 drop; }
                        }
                        """
                    try NetworkNamespaces.run(
                        ["/usr/sbin/nft", BytePath(rules)], on: host.network)
                }
                try await lan.running { _ in try await lan.expectDelivery(round: 1) }
            }
        }
    }

    @Test(arguments: [true, false])
    func `an interface with only link-local addresses does, also one that comes later`(
        _ hasDaemons: Bool
    ) async throws {
        try await MDNSHost.with(2) { hosts in
            try await MDNSHost.withDaemons(on: hasDaemons ? hosts : []) { _ in
                try await LANHomes.with(hosts, interfaces: "awdl0") { lan in
                    try await lan.running { agents in
                        for agent in agents {
                            try await agent.awaitLAN("there is no address on awdl0")
                        }
                        try NetworkNamespaces.addCable(
                            "awdl0", from: hosts[0].network, to: hosts[1].network)
                        try await lan.expectDelivery()
                        for home in lan.homes {
                            let address = try await home.status().peers.first?.address
                            #expect(address?.contains("%awdl0") == true, "\(address ?? "none")")
                        }
                    }
                }
            }
        }
    }

    @Test func `the core takes over from a daemon that ends, and gives it back`() async throws {
        try await MDNSHost.with(2) { hosts in
            try await MDNSHost.withDaemons(on: hosts) { daemons in
                try await LANHomes.with(hosts) { lan in
                    let ada = try await AgentProcess(lan.homes[0])
                    do {
                        try await ada.awaitLAN("mDNS by the Avahi daemon")
                        try await meet(lan, round: 0)
                        try await daemons[0].kill()
                        try await ada.awaitLAN("mDNS built in")
                        try await meet(lan, round: 1)
                        try await daemons[0].start()
                        try await ada.awaitLAN("mDNS by the Avahi daemon")
                        try await meet(lan, round: 2)
                    } catch {
                        print(try ada.log.suffix(6000))
                        try await ada.kill()
                        throw error
                    }
                    try await ada.kill()
                }
            }
        }
    }

    @Test func `a daemon that appears late takes over`() async throws {
        try await MDNSHost.with(2) { hosts in
            try await LANHomes.with(hosts) { lan in
                let ada = try await AgentProcess(lan.homes[0])
                do {
                    try await ada.awaitLAN("mDNS built in")
                    try await meet(lan, round: 0)
                    try await MDNSHost.withDaemons(on: [hosts[0]]) { _ in
                        try await ada.awaitLAN("mDNS by the Avahi daemon")
                        try await meet(lan, round: 1)
                    }
                } catch {
                    print(try ada.log.suffix(6000))
                    try await ada.kill()
                    throw error
                }
                try await ada.kill()
            }
        }
    }

    @Test func `a daemon that publishes nothing for others leaves it to them to be found`()
        async throws
    {
        let settings = MDNSHost.DaemonSettings(publish: "disable-user-service-publishing=yes")
        try await MDNSHost.with(2, settings) { hosts in
            try await MDNSHost.withDaemons(on: [hosts[0]]) { _ in
                try await LANHomes.with(hosts) { lan in
                    try await lan.running { agents in
                        try await agents[0].awaitLAN("finds others and is not found: the Avahi")
                        try await lan.expectDelivery()
                    }
                }
            }
        }
    }

    @Test func `who keeps mDNS to itself is told of, and what to do`() async throws {
        let settings = MDNSHost.DaemonSettings(server: "disallow-other-stacks=yes")
        try await MDNSHost.with(1, settings) { hosts in
            try await LANHomes.with(hosts) { lan in
                var ada = lan.homes[0]
                // The daemon is there, and its D-Bus is not for this home.
                ada.variables["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"
                try await MDNSHost.withDaemons(on: hosts) { _ in
                    try await withAgents(ada) { agents in
                        try await agents[0].awaitLAN("UDP port 5353 cannot be opened")
                        let state = try await ada.status().transport("lan")?.state
                        #expect(state == "impossible")
                    }
                }
            }
        }
    }

    /// Bob starts, finds ada, who runs, and both get what the other one drops.
    private func meet(_ lan: LANHomes, round: UInt64) async throws {
        try await withAgents(lan.homes[1]) { _ in
            try await lan.expectDelivery(round: round)
        }
    }

    /// What a bystander on the host's network learns of each service, field by field.
    private func seenServices(from host: MDNSHost) throws -> [[String]] {
        let variables = host.variables.map { BytePath(bytes: Array("\($0)=".utf8) + $1.bytes) }
        let words: [BytePath] =
            ["/usr/bin/env"] + variables + ["/usr/bin/avahi-browse", "-rtp", "_chute._tcp"]
        let run = try NetworkNamespaces.run(words, on: host.network)
        let lines = String(decoding: run.output, as: UTF8.self).split(separator: "\n")
        var services: [String: Set<String>] = [:]
        for line in lines where line.hasPrefix("=") {
            let fields = line.split(separator: ";").map(String.init)
            guard fields.count >= 9 else { continue }
            let text = fields[9...].joined().split(separator: " ")
                .map { String($0.filter { $0 != "\"" }) }
            services[fields[3], default: []].formUnion(fields[..<9] + text)
        }
        return services.map { [$0.key] + $0.value.sorted() }
    }

    /// Counts the connections that begin on this host, or at it, from now on.
    private func countDials(on host: NetworkNamespaces.Host) throws {
        let rule = "tcp flags & (syn | ack) == syn counter name dials;"
        let rules = """
            table inet chute {
              counter dials {}
              chain in { type filter hook input priority 0; \(rule) }
              chain out { type filter hook output priority 0; \(rule) }
            }
            """
        try NetworkNamespaces.run(["/usr/sbin/nft", BytePath(rules)], on: host)
    }

    private func dials(on host: NetworkNamespaces.Host) throws -> Int {
        let run = try NetworkNamespaces.run(
            ["/usr/sbin/nft", "list", "counter", "inet", "chute", "dials"], on: host)
        let words = String(decoding: run.output, as: UTF8.self).split { $0.isWhitespace }
        let place = try #require(words.firstIndex(of: "packets"))
        return try #require(Int(words[place + 1]))
    }
}

extension AgentProcess {
    /// Waits until `status` says this of the transport `lan`.
    fileprivate func awaitLAN(_ words: String) async throws {
        try await eventually("lan of \(home.name): \(words)") {
            "\(try await home.status().transports)"
        } holds: {
            try await home.status().transport("lan")?.detail.contains(words) == true
        }
    }
}
