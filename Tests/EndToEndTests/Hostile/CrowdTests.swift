import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

/// Many at once at one agent.
@Suite(.timeLimit(.minutes(3)), .serialized)
struct CrowdTests {
    private func withAgent(
        _ body: (AgentHome, AgentProcess, _ address: String, _ key: [UInt8]) async throws -> Void
    ) async throws {
        try await AgentPair.with { pair in
            let key = try FileDescriptor.open(pair.key, FileDescriptor.readOnly)
                .read(count: 64, at: 0)
            try await withAgents(pair.laptop) { agents in
                try await body(pair.laptop, agents[0], pair.port.address.description, key)
            }
        }
    }

    @Test func `two hundred strangers of one address cost two hundred members of it nothing`()
        async throws
    {
        try await withAgent { home, agent, address, key in
            var members: [RawPeer] = []
            for _ in 0..<200 {
                let member = try await RawPeer(at: address)
                try await member.enter(key: key)
                members.append(member)
            }
            let target = try #require(SocketAddress(address))
            var strangers: [Int32] = []
            defer { for stranger in strangers { close(stranger) } }
            for _ in 0..<200 { strangers.append(try await Socket.connect(to: target).release()) }
            // Each is asked for a word of its own, and gives it.
            for member in members {
                try await member.send(.ping, .map([:]))
                _ = try await member.next(.ping)
            }
            #expect(try agent.descriptorCount() > 200)
            #expect(try await home.status().running)
        }
    }

    @Test func `a hundred visits of members and of strangers leave nothing behind`() async throws {
        try await withAgent { home, agent, address, key in
            let device = try DeviceKey.generate()
            func visit() async throws {
                let member = try await RawPeer(at: address, key: device)
                try await member.enter(key: key)
                let stranger = try await RawPeer(at: address)
                try await stranger.send(.prove, .map([:]))
                try await stranger.awaitEnd()
                try await member.send(.goodbye, .map([0: .text("stopping")]))
                try await member.awaitEnd()
            }
            for _ in 0..<50 { try await visit() }
            let memory = try agent.peakMemory()
            let descriptors = try agent.descriptorCount()
            for _ in 0..<100 { try await visit() }
            try await eventually("as many descriptors as before") {
                try agent.descriptorCount() <= descriptors
            }
            let after = try agent.peakMemory()
            #expect(after < memory + memory / 20, "\(memory) before, \(after) after")
            #expect(try await home.status().running)
        }
    }

    @Test func `thirty join by one ticket at once, and beyond its uses nobody does`() async throws {
        try await withAgentFolder { folder in
            let owner = try AgentHome("owner", in: folder)
            try await owner.setUp("--listen", "127.0.0.1:0")
            try await withAgents(owner) { _ in
                let made = try await owner.chute("-q", "invite", "--print", "--uses", "40")
                let line = try #require(made.output.split(separator: "\n").first)
                let ticket = try #require(Ticket(String(line)))
                let address = try #require(ticket.addresses.first)
                let start = ContinuousClock.now
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<30 {
                        group.addTask {
                            try await join(address, ticket)
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(ContinuousClock.now - start < .seconds(10))
                for _ in 0..<10 {
                    try await join(address, ticket)
                }
                let late = try await RawPeer(at: address)
                await #expect(throws: (any Error).self) {
                    try await late.enter(secret: ticket.secret)
                }
                #expect(await late.heard.contains(Array("ticket-used-up".utf8)))
                #expect(try await owner.status().peers.count == 40)
            }
        }
    }

    /// Joins, and tries again where there are too many at once.
    private func join(_ address: String, _ ticket: Ticket) async throws {
        let key = try DeviceKey.generate()
        try await eventually("a join") {
            do {
                try await RawPeer(at: address, key: key).enter(secret: ticket.secret)
                return true
            } catch { return false }
        }
    }
}
