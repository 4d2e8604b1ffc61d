import ChuteSystem
import Glibc
import TestSupport
import Testing

/// What happens to a network or a peer once may happen every hour: after a hundred times an agent
/// delivers as before, and holds no more than after thirty.
@Suite(.serialized, .timeLimit(.minutes(6)))
struct RepeatTests {
    @Test(.multicastDNS) func `a cable is pulled and put back a hundred times`() async throws {
        try await LANHomes.withTwoThatMet { lan, agents in
            try await Steadiness.expect(of: agents) { _ in
                try lan.link(1, "down")
                try await lan.homes[1].awaitConnection(false)
                try lan.link(1, "up")
                for home in lan.homes { try await home.awaitConnection(true) }
            }
            try await lan.expectDelivery(round: 1)
        }
    }

    @Test func `a peer crashes and comes back a hundred times`() async throws {
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { agents in
                try await Steadiness.expect(of: agents) { number in
                    try await withAgents(pair.pi) { others in
                        try await pair.laptop.awaitConnection(true)
                        if number.isMultiple(of: 2) { try await others[0].kill() }
                    }
                    try await pair.laptop.awaitConnection(false)
                }
                try await expectDelivery(from: pair.laptop, to: pair.pi)
            }
        }
    }

    @Test func `a proxy is restarted a hundred times`() async throws {
        try await WebSocketPair.with(through: .nginx) { pi, laptop, proxy in
            try await withAgents(laptop, pi) { agents in
                try await Steadiness.expect(of: agents) { _ in
                    for home in [laptop, pi] { try await home.awaitConnection(true) }
                    try await proxy.stop()
                    for home in [laptop, pi] { try await home.awaitConnection(false) }
                    try await proxy.start()
                }
                try await eventually("both are connected") {
                    try await pi.status().peers.contains(where: \.connected)
                }
                try await expectDelivery(from: laptop, to: pi)
            }
        }
    }

    private func expectDelivery(from laptop: AgentHome, to pi: AgentHome) async throws {
        var random = SeededGenerator(seed: 81)
        let photo = SampleFiles.photo(100_000, using: &random)
        try laptop.drop(photo, as: "a.jpg")
        let expected = FolderTree(files: ["laptop/a.jpg": .init(photo)])
        if try await pi.status().running {
            try await pi.awaitOutbox(expected)
        } else {
            try await withAgents(pi) { _ in try await pi.awaitOutbox(expected) }
        }
    }
}

extension LANHomes {
    /// Switches the cable of one host.
    fileprivate func link(_ index: Int, _ state: BytePath) throws {
        try NetworkNamespaces.run(
            ["/usr/sbin/ip", "link", "set", "eth0", state], on: hosts[index].network)
    }
}

extension AgentHome {
    /// Waits until this home is, or is not, connected to anybody.
    fileprivate func awaitConnection(_ isThere: Bool) async throws {
        try await eventually("\(name) is \(isThere ? "" : "not ")connected") {
            try await status().peers.contains(where: \.connected) == isThere
        }
    }
}
