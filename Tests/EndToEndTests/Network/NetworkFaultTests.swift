import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Two devices on one network on which something goes wrong: files arrive all the same.
@Suite(.multicastDNS, .serialized, .timeLimit(.minutes(5)))
struct NetworkFaultTests {
    /// So soon after the network is back they are connected again.
    private static let promptly = Duration.seconds(5)

    private func ip(_ host: MDNSHost, _ words: BytePath...) throws {
        for word in words {
            let parts = word.description.split(separator: " ").map { BytePath(String($0)) }
            try NetworkNamespaces.run(["/usr/sbin/ip"] + parts, on: host.network)
        }
    }

    private func block(_ chain: String, on host: MDNSHost) throws {
        let rules = """
            table inet fault {
              chain c {
                type filter hook \(chain) priority 0
                counter drop
              }
            }
            """
        try NetworkNamespaces.run(["/usr/sbin/nft", BytePath(rules)], on: host.network)
    }

    private func unblock(_ host: MDNSHost) throws {
        try NetworkNamespaces.run(
            ["/usr/sbin/nft", "delete", "table", "inet", "fault"], on: host.network)
    }

    /// How many packets the block has dropped so far.
    private func lostCount(on host: MDNSHost) throws -> Int {
        let table = try NetworkNamespaces.run(
            ["/usr/sbin/nft", "list", "table", "inet", "fault"], on: host.network)
        let words = String(decoding: table.output, as: UTF8.self).split(
            whereSeparator: \.isWhitespace)
        return words.firstIndex(of: "packets").flatMap { Int(words[$0 + 1]) } ?? 0
    }

    /// Waits until both say that they are connected; how long that took.
    private func connected(_ lan: LANHomes) async throws -> Duration {
        let start = ContinuousClock.now
        try await eventually("both are connected") {
            for home in lan.homes where try await !home.status().peers.contains(where: \.connected)
            { return false }
            return true
        }
        return ContinuousClock.now - start
    }

    private func disconnected(_ lan: LANHomes, _ index: Int) async throws {
        try await eventually("\(lan.homes[index].name) is not connected") {
            try await !lan.homes[index].status().peers.contains(where: \.connected)
        }
    }

    @Test func `a cable that was out is noticed, and both are connected soon after it is back`()
        async throws
    {
        try await LANHomes.withTwoThatMet { lan, _ in
            try ip(lan.hosts[1], "link set eth0 down")
            try await disconnected(lan, 1)
            try ip(lan.hosts[1], "link set eth0 up")
            let duration = try await connected(lan)
            #expect(duration < Self.promptly, "\(duration)")
            try await lan.expectDelivery(round: 1)
        }
    }

    @Test func `another address takes the place of the one before`() async throws {
        try await LANHomes.withTwoThatMet { lan, _ in
            try ip(
                lan.hosts[1], "address flush dev eth0",
                "address add 10.77.0.99/24 dev eth0")
            let start = ContinuousClock.now
            try await eventually("connected again by other addresses") {
                let peers = try await lan.homes[0].status().peers
                return peers.contains {
                    $0.connected && !($0.address ?? "").contains("10.77.0.2")
                }
            }
            #expect(ContinuousClock.now - start < Self.promptly + .seconds(2))
            try await lan.expectDelivery(round: 1)
        }
    }

    @Test func `an agent that starts before its network finds the others when that comes`()
        async throws
    {
        try await MDNSHost.with(2) { hosts in
            try await LANHomes.with(hosts) { lan in
                try ip(hosts[1], "link set eth0 down")
                try await lan.running { _ in
                    try ip(hosts[1], "link set eth0 up")
                    let duration = try await connected(lan)
                    #expect(duration < Self.promptly, "\(duration)")
                    try await lan.expectDelivery()
                }
            }
        }
    }

    @Test(arguments: ["input", "output"])
    func `what is lost in one direction for a while comes once it is not`(
        _ direction: String
    ) async throws {
        try await LANHomes.withTwoThatMet { lan, _ in
            try block(direction, on: lan.hosts[1])
            var random = SeededGenerator(seed: 5)
            let photo = SampleFiles.photo(300_000, using: &random)
            try lan.homes[0].drop(photo, as: "lost.jpg")
            try await eventually("some packets at least are lost") {
                try lostCount(on: lan.hosts[1]) > 3
            }
            try unblock(lan.hosts[1])
            try await eventually("the photo comes out") {
                try FolderTree.paths(below: lan.homes[1].outbox).contains("ada/lost.jpg")
            }
            try await lan.expectDelivery(round: 1)
        }
    }

    @Test func `a peer that vanished in the middle of a transfer gets the rest when it is back`()
        async throws
    {
        try await LANHomes.withTwoThatMet { lan, _ in
            var random = SeededGenerator(seed: 6)
            let film = SampleFiles.long(30_000_000, using: &random)
            try ip(lan.hosts[0], "link set eth0 mtu 1500")
            try shape(lan.hosts[0], "80mbit")
            try lan.homes[0].drop(film, as: "film.bin")
            try await eventually("some of it is on its way") {
                try await lan.homes[1].status().transfers.contains { $0.done > 1_000_000 }
            }
            try ip(lan.hosts[1], "link set eth0 down")
            try await disconnected(lan, 1)
            #expect(try !FolderTree.paths(below: lan.homes[1].outbox).contains("ada/film.bin"))
            try ip(lan.hosts[1], "link set eth0 up")
            try await lan.homes[1].awaitFile("ada/film.bin", film)
        }
    }

    @Test func `small packets and a slow line only take longer`() async throws {
        try await LANHomes.withTwoThatMet { lan, _ in
            for host in lan.hosts { try ip(host, "link set eth0 mtu 1280") }
            try shape(lan.hosts[0], "16mbit")
            try shape(lan.hosts[1], "16mbit")
            try await lan.expectDelivery(round: 1)
        }
    }

    @Test func `an agent that was stopped for a while goes on`() async throws {
        try await LANHomes.withTwoThatMet { lan, agents in
            agents[1].send(signal: SIGSTOP)
            var random = SeededGenerator(seed: 7)
            let photo = SampleFiles.photo(100_000, using: &random)
            try lan.homes[0].drop(photo, as: "late.jpg")
            try await Task.sleep(for: .seconds(2))
            agents[1].send(signal: SIGCONT)
            try await lan.homes[1].awaitFile("ada/late.jpg", photo)
        }
    }

    private func shape(_ host: MDNSHost, _ rate: BytePath) throws {
        try NetworkNamespaces.run(
            [
                "/usr/sbin/tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate,
                "burst", "32kb", "latency", "50ms",
            ], on: host.network)
    }
}

extension AgentHome {
    /// Waits until this file is in the outbox, whole.
    fileprivate func awaitFile(_ path: BytePath, _ bytes: [UInt8]) async throws {
        let place = outbox.appending(path)
        try await eventually(within: .seconds(60), "\(path) comes out at \(name)") {
            "\(try await status().transfers)"
        } holds: {
            try FolderTree.paths(below: outbox).contains(path)
                && FolderTree.Content(of: place) == FolderTree.Content(bytes)
        }
    }
}
