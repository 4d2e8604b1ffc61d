import ChuteSystem
import TestSupport
import Testing

/// Devices behind home routers that pass a port on.
@Suite(
    .enabled(
        if: HomeNetworks.areAvailable, "needs root, network namespaces, nft and miniupnpd"),
    .serialized, .timeLimit(.minutes(4)))
struct HomeRouterTests {
    @Test(arguments: PortMappingDaemon.Method.allCases)
    func `two homes behind routers meet at a port that one router passes on`(
        _ method: PortMappingDaemon.Method
    ) async throws {
        try await HomeNetworks.with { networks in
            try await PortMappingDaemon.with([method], on: networks.routers) { routers in
                try await withHomes(networks) { ada, bob, cyd in
                    do {
                        try await meet(ada, bob, cyd, routers[0])
                    } catch {
                        print(try routers[0].log.suffix(3000))
                        throw error
                    }
                }
            }
        }
    }

    private let outer = "203.0.112.1:4040"

    private func meet(
        _ ada: AgentHome, _ bob: AgentHome, _ cyd: AgentHome, _ router: PortMappingDaemon
    ) async throws {
        try await withAgents(ada, bob) { agents in
            // Nobody has dialled the router's address yet: nobody is told of it.
            try await awaitDetail(
                "[::]:4040, \(outer) by the router, which no peer has tried yet", ada)
            #expect(try router.mappedPorts() == [4040])
            let first = try await ada.chute("invite", "--json")
            #expect(!first.output.contains(outer))
            #expect(first.error.contains("it works on this network only"), "\(first.error)")
            // One outside dials it, and is gone again.
            try await withAgents(cyd) { _ in
                let joined = try await ada.chute("join", cyd.ticket(for: "owner"))
                try #require(joined.exitCode == 0, "\(joined.error)")
                try await awaitDetail("[::]:4040, \(outer) by the router", ada)
                let doctor = try await ada.chute("doctor")
                #expect(
                    doctor.output.contains("ok    reached at \(outer): by cyd\n"),
                    "\(doctor.output)")
                #expect(
                    doctor.output.contains(
                        "ok    router: passes on what comes to \(outer); a peer"),
                    "\(doctor.output)")
                #expect(
                    try await cyd.status().transport("tcp")?.detail == "[::]:4040",
                    "one without a router asks none")
            }
            let second = try await ada.chute("invite", "--json")
            #expect(second.output.contains(outer))
            #expect(!second.error.contains("this network only"), "\(second.error)")
            let joined = try await bob.chute("join", ada.ticket())
            try #require(joined.exitCode == 0, "\(joined.error)")
            try await expectDelivery(between: ada, and: bob)
            #expect(try await bob.status().peers.first { $0.name == "ada" }?.address == outer)
            // The router is told when the port is not needed any more.
            let ended = try await agents[0].stop()
            #expect(ended.exitCode == 0)
            try await eventually("the router forgets the port") {
                try router.mappedPorts().isEmpty
            }
        }
    }

    private func expectDelivery(between one: AgentHome, and other: AgentHome) async throws {
        var random = SeededGenerator(seed: 91)
        for (from, to) in [(one, other), (other, one)] {
            let photo = SampleFiles.photo(500_000, using: &random)
            try from.drop(photo, as: "photo.jpg")
            try await to.awaitOutbox(
                FolderTree(files: [BytePath("\(from.name)/photo.jpg"): .init(photo)]))
        }
    }

    @Test func `a router that answers nothing is told of, and bothers nobody`() async throws {
        try await HomeNetworks.with { networks in
            try await withHomes(networks) { ada, _, _ in
                try await withAgents(ada) { _ in
                    try await awaitDetail(
                        "[::]:4040, no port at the router: "
                            + "192.168.77.1 answers neither NAT-PMP nor UPnP", ada)
                }
            }
        }
    }

    @Test(arguments: PortMappingDaemon.Method.allCases)
    func `a router behind another one maps nothing`(
        _ method: PortMappingDaemon.Method
    ) async throws {
        try await HomeNetworks.with(outer: HomeNetworks.privateNetwork) { networks in
            try await PortMappingDaemon.with([method], on: [networks.routers[0]]) { routers in
                try await withHomes(networks) { ada, _, _ in
                    try await withAgents(ada) { _ in
                        try await awaitDetail(
                            "[::]:4040, no port at the router: the router has no public address: "
                                + "it is not connected to the internet, or another one stands "
                                + "before it", ada)
                        #expect(try routers[0].mappedPorts().isEmpty)
                    }
                }
            }
        }
    }

    @Test func `an address that is set goes into tickets, and no router is asked`() async throws {
        try await HomeNetworks.with { networks in
            try await PortMappingDaemon.with(
                [.natPMP, .upnp], on: [networks.routers[0]]
            ) { routers in
                try await withHomes(networks) { ada, _, _ in
                    try ada.edit("# public = \"\"", "public = \"home.example.org:4040\"")
                    try ada.edit("# map_port = true", "map_port = false")
                    try await withAgents(ada) { _ in
                        let made = try await ada.chute("invite", "--json")
                        #expect(made.output.contains("home.example.org:4040"))
                        #expect(!made.error.contains("this network only"), "\(made.error)")
                        #expect(try await ada.status().transport("tcp")?.detail == "[::]:4040")
                        #expect(try routers[0].mappedPorts().isEmpty)
                    }
                }
            }
        }
    }

    private func awaitDetail(_ detail: String, _ home: AgentHome) async throws {
        try await eventually(within: .seconds(40), "tcp of \(home.name) is \(detail)") {
            try await "\(home.status().transports)"
        } holds: {
            try await home.status().transport("tcp")?.detail == detail
        }
    }

    /// Calls `body` with two homes behind the routers and one outside, which have nothing but TCP.
    private func withHomes(
        _ networks: HomeNetworks, _ body: (AgentHome, AgentHome, AgentHome) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let hosts = networks.homes + [networks.outside]
            let homes = try zip(["ada", "bob", "cyd"], hosts).map { name, host in
                try AgentHome(name, in: folder, network: host)
            }
            for home in homes {
                try await home.setUp()
                try home.edit("# enabled = true", "enabled = false")
            }
            try await body(homes[0], homes[1], homes[2])
        }
    }
}
