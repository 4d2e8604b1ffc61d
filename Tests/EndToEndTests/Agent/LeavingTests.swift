import ChuteSystem
import TestSupport
import Testing

/// Devices that leave a space, or are taken out of it.
@Suite(.timeLimit(.minutes(3)))
struct LeavingTests {
    /// Two agents, of which the pi joined the laptop's space by a ticket.
    private func withMembers(
        _ body: (AgentHome, AgentHome, [AgentProcess]) async throws -> Void
    ) async throws {
        try await withStrangers { laptop, pi in
            try await withAgents(laptop, pi) { agents in
                try await join(pi, to: laptop)
                for (home, other) in [(laptop, "pi"), (pi, "laptop")] {
                    try await eventually("\(home.name) is connected to \(other)") {
                        try await home.status().peers.contains { $0.name == other && $0.connected }
                    }
                }
                try await body(laptop, pi, agents)
            }
        }
    }

    @discardableResult
    private func join(
        _ home: AgentHome, to inviter: AgentHome, as role: BytePath = "member"
    ) async throws -> String {
        let joined = try await home.chute("join", inviter.ticket(for: role))
        #expect(joined.exitCode == 0, "\(joined.error)")
        return joined.output
    }

    @Test func `the only owner left without a word and nobody could invite any more`() async throws
    {
        try await withMembers { laptop, pi, agents in
            let refused = try await laptop.chute("leave")
            #expect(refused.exitCode == 1)
            #expect(refused.error.contains("only owner"))
            #expect(refused.error.contains("peers role NAME owner`"))
            #expect(refused.error.contains("leave --force`"))
            #expect(try await laptop.status().peers.map(\.name) == ["pi"])

            // What it says to do works.
            let made = try await laptop.chute("peers", "role", "pi", "owner")
            #expect(made.exitCode == 0, "\(made.error)")
            try await eventually("the laptop knows") {
                try await laptop.status().peers.first?.role == "owner"
            }
            let left = try await laptop.chute("leave")
            #expect(left.exitCode == 0, "\(left.error)")
            #expect(left.output.contains("peers remove laptop"))
            #expect(try await laptop.status().space == nil)
            try await eventually("the pi is told") {
                try agents[1].log
            } holds: {
                try agents[1].log.contains("disconnected from laptop: it left the space")
            }
            // To leave is not to remove the others.
            #expect(try await !pi.chute("status").output.contains("removed from the space"))
            let removed = try await pi.chute("peers", "remove", "laptop")
            #expect(removed.exitCode == 0, "\(removed.error)")
            // Nobody else is left to be without an owner.
            let last = try await pi.chute("leave")
            #expect(last.exitCode == 0)
            #expect(!last.output.contains("peers remove"))
        }
    }

    @Test func `an only owner that is sure of it leaves`() async throws {
        try await withMembers { laptop, pi, _ in
            #expect(try await laptop.chute("leave", "--force").exitCode == 0)
            #expect(try await laptop.status().space == nil)
            #expect(try await pi.chute("leave").exitCode == 0)
            let none = try await pi.chute("leave")
            #expect(none.output.contains("no space"))
        }
    }

    @Test func `a removed device was told to look at its network`() async throws {
        try await withMembers { laptop, pi, agents in
            #expect(try await laptop.chute("peers", "remove", "pi").exitCode == 0)
            try await awaitRemoval(of: pi)
            try await eventually("the log says so") {
                try agents[1].log
            } holds: {
                try agents[1].log.contains("laptop says that this device was removed")
            }
            #expect(try !agents[1].log.contains("goodbye"))

            // It hears it when it dials, too.
            try await agents[1].stop()
            try await withAgents(pi) { _ in
                try await awaitRemoval(of: pi)
                #expect(try await pi.chute("leave").exitCode == 0)
                #expect(try await !pi.chute("status").output.contains("removed"))
                try await join(pi, to: laptop)
                try await eventually("both are connected again") {
                    try await pi.status().peers.contains { $0.connected }
                }
                #expect(try await !pi.chute("status").output.contains("removed"))
            }
        }
    }

    private func awaitRemoval(of home: AgentHome) async throws {
        try await eventually(within: .seconds(60), "status says that it was removed") {
            try await home.chute("status").output
        } holds: {
            let text = try await home.chute("status").output
            return text.contains("removed from the space, as laptop says")
                && text.contains("leave`") && text.contains("new ticket")
                && !text.contains("network")
        }
    }

    @Test func `connections are told by names and in plain words`() async throws {
        try await withMembers { laptop, pi, agents in
            let end = try await agents[1].stop()
            try await eventually("the laptop says why") {
                try agents[0].log
            } holds: {
                try agents[0].log.contains("disconnected from pi: it stops")
            }
            try await withAgents(pi) { _ in
                try await eventually("the laptop says who came") {
                    try agents[0].log.contains("connected to pi at 127.0.0.1:")
                }
            }
            for log in [try agents[0].log, end.error] {
                #expect(!log.contains("CancellationError"))
                #expect(!log.contains("goodbye"))
            }
        }
    }
}
