import ChuteSystem
import Glibc
import TestSupport
import Testing

/// What takes minutes, by `scripts/long PART`: no part is chosen in an ordinary run.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct LongTests {
    enum Part: String {
        /// A device that sleeps for ten minutes.
        case suspend
        /// A connection on which nothing comes through any more, and nobody says so.
        case dead
        /// Connections through proxies that cut what is idle for a minute.
        case idle
        /// A cable that is pulled and put back a hundred times.
        case cable

        /// `CHUTE_LONG` names it.
        static func chosen(_ part: Part) -> [Part] {
            getenv("CHUTE_LONG").map { String(cString: $0) } == part.rawValue ? [part] : []
        }
    }

    private func areConnected(_ lan: LANHomes) async throws -> [Bool] {
        [try await isConnected(lan.homes[0]), try await isConnected(lan.homes[1])]
    }

    private func isConnected(_ home: AgentHome) async throws -> Bool {
        try await home.status().peers.contains(where: \.connected)
    }

    @Test(arguments: Part.chosen(.cable))
    func `a cable is pulled and put back a hundred times`(_ part: Part) async throws {
        try await LANHomes.withCablePulled(warmUp: 30, repeats: 100)
    }

    @Test(arguments: Part.chosen(.suspend))
    func `a device that slept for ten minutes is connected within five seconds`(
        _ part: Part
    ) async throws {
        try await LANHomes.withTwoThatMet { lan, agents in
            agents[1].send(signal: SIGSTOP)
            var random = SeededGenerator(seed: 1)
            try lan.homes[0].drop(SampleFiles.photo(100_000, using: &random), as: "night.jpg")
            try await Task.sleep(for: .seconds(600))
            #expect(try await !isConnected(lan.homes[0]))
            agents[1].send(signal: SIGCONT)
            try await eventually(within: .seconds(5), "connected again") {
                try await areConnected(lan) == [true, true]
            }
            try await eventually("the photo comes out") {
                try FolderTree.paths(below: lan.homes[1].outbox).contains("ada/night.jpg")
            }
            try await lan.expectDelivery(round: 1)
        }
    }

    @Test(arguments: Part.chosen(.dead))
    func `a connection that died without a word is given up after ninety seconds`(
        _ part: Part
    ) async throws {
        try await LANHomes.withTwoThatMet { lan, _ in
            let rules = """
                table inet fault {
                  chain in {
                    type filter hook input priority 0
                    iifname "eth0" drop
                  }
                  chain out {
                    type filter hook output priority 0
                    oifname "eth0" drop
                  }
                }
                """
            let host = lan.hosts[1].network
            try NetworkNamespaces.run(["/usr/sbin/nft", BytePath(rules)], on: host)
            let start = ContinuousClock.now
            try await eventually(within: .seconds(150), "both know") {
                try await areConnected(lan) == [false, false]
            }
            print("given up after \(ContinuousClock.now - start)")
            #expect(ContinuousClock.now - start > .seconds(60))
            try NetworkNamespaces.run(
                ["/usr/sbin/nft", "delete", "table", "inet", "fault"], on: host)
            try await eventually(within: .seconds(90), "connected again") {
                try await areConnected(lan) == [true, true]
            }
            try await lan.expectDelivery(round: 1)
        }
    }

    @Test(arguments: Part.chosen(.idle), ReverseProxy.Kind.allCases)
    func `a connection through a proxy is still the same after two idle minutes`(
        _ part: Part, _ kind: ReverseProxy.Kind
    ) async throws {
        try await WebSocketPair.with(through: kind) { pi, laptop, _ in
            try await withAgents(laptop, pi) { agents in
                var random = SeededGenerator(seed: 3)
                let photo = SampleFiles.photo(100_000, using: &random)
                try await eventually("connected") { try await isConnected(laptop) }
                try await Task.sleep(for: .seconds(120))
                #expect(try !agents[0].log.contains("disconnected from"))
                try laptop.drop(photo, as: "later.jpg")
                try await pi.awaitOutbox(
                    FolderTree(files: ["laptop/later.jpg": .init(photo)]))
                #expect(try !agents[0].log.contains("disconnected from"))
            }
        }
    }
}
