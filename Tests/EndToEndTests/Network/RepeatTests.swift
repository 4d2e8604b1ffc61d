import ChuteSystem
import Glibc
import TestSupport
import Testing

/// What happens to a network or a peer once may happen every hour: an agent then
/// delivers as before, and holds no more than after a few times.
@Suite(.serialized, .timeLimit(.minutes(6)))
struct RepeatTests {
    // A hundred times by `scripts/long cable`: each takes the three seconds of a sign of life.
    @Test(.multicastDNS) func `a cable is pulled and put back again and again`() async throws {
        try await LANHomes.withCablePulled(warmUp: 8, repeats: 15)
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

    @Test func `a peer behind a proxy crashes and comes back a hundred times`() async throws {
        try await WebSocketPair.with(through: .nginx) { pi, laptop, _ in
            try await withAgents(pi) { agents in
                try await Steadiness.expect(of: agents) { _ in
                    try await withAgents(laptop) { others in
                        try await pi.awaitConnection(true)
                        try await others[0].kill()
                    }
                    try await pi.awaitConnection(false)
                }
                try await withAgents(laptop) { _ in
                    try await expectDelivery(from: laptop, to: pi)
                }
            }
        }
    }

    @Test func `a transport is switched off and on a hundred times`() async throws {
        try await AgentPair.with { pair in
            let (on, off) = (
                "\n[network]\ntransports = [\"tcp\"]\n", "\n[network]\ntransports = []\n"
            )
            try pair.laptop.edit("\n[network]\n", on)
            try await withAgents(pair.laptop, pair.pi) { agents in
                try await Steadiness.expect(of: agents) { _ in
                    try pair.laptop.edit(on, off)
                    for home in [pair.laptop, pair.pi] { try await home.awaitConnection(false) }
                    try pair.laptop.edit(off, on)
                    for home in [pair.laptop, pair.pi] { try await home.awaitConnection(true) }
                }
                try await expectDelivery(from: pair.laptop, to: pair.pi)
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
    /// Pulls the cable of one of two homes so often, each time until both know, and puts it back.
    static func withCablePulled(warmUp: Int, repeats: Int) async throws {
        try await withTwoThatMet { lan, agents in
            try await Steadiness.expect(of: agents, warmUp: warmUp, repeats: repeats) { _ in
                try lan.switchCable("down")
                try await lan.homes[1].awaitConnection(false)
                try lan.switchCable("up")
                for home in lan.homes { try await home.awaitConnection(true) }
            }
            try await lan.expectDelivery(round: 1)
        }
    }

    private func switchCable(_ state: BytePath) throws {
        try NetworkNamespaces.run(
            ["/usr/sbin/ip", "link", "set", "eth0", state], on: hosts[1].network)
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
