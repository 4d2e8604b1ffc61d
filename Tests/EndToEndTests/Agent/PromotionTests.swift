import ChuteSystem
import TestSupport
import Testing

/// Members that come with a ticket once more.
@Suite(.timeLimit(.minutes(3)))
struct PromotionTests {
    /// Two agents, of which the pi joined the laptop's space by the ticket that is given.
    private func withMembers(
        _ body: (AgentHome, AgentHome, [AgentProcess], BytePath) async throws -> Void
    ) async throws {
        try await withStrangers { laptop, pi in
            try await withAgents(laptop, pi) { agents in
                let ticket = try await laptop.ticket(for: "member")
                let joined = try await pi.chute("join", ticket)
                try #require(joined.exitCode == 0, "\(joined.error)")
                try await body(laptop, pi, agents, ticket)
            }
        }
    }

    @Test func `a member believed that a worthless ticket had made it an owner`() async throws {
        try await withMembers { laptop, pi, _, first in
            let revoked = try await laptop.ticket(for: "owner")
            let list = try await laptop.chute("invite", "list").output
            let id = try #require(
                list.split(separator: "\n").first { $0.contains("owner") }?
                    .split(separator: " ").first)
            #expect(try await laptop.chute("invite", "revoke", BytePath(String(id))).exitCode == 0)
            let short = try await laptop.ticket(for: "owner", expires: "1 s")

            let tried = try await pi.chute("join", revoked)
            #expect(tried.exitCode == 1)
            #expect(tried.error.contains("already a member of the space of laptop"))
            #expect(tried.error.contains("the ticket was not taken: it was revoked"))
            try await eventually("the ticket has expired") {
                try await !laptop.chute("invite", "list").output.contains("owner")
            }
            let late = try await pi.chute("join", short)
            #expect(late.exitCode == 1)
            #expect(late.error.contains("the ticket was not taken: it has expired"))
            #expect(try await laptop.status().peers.map(\.role) == ["member"])

            // One that offers no more than there is fails nobody: scripts say it again.
            let again = try await pi.chute("join", first)
            #expect(again.exitCode == 0, "\(again.error)")
            #expect(again.output.contains("already a member"))
        }
    }

    @Test func `a member whose inviter is away is told that its ticket was not taken`()
        async throws
    {
        try await withMembers { laptop, pi, agents, _ in
            let owner = try await laptop.ticket(for: "owner")
            try await agents[0].stop()
            let tried = try await pi.chute("join", owner)
            #expect(tried.exitCode == 69)
            #expect(tried.error.contains("the ticket was not taken: the inviting device cannot"))
        }
    }
}
