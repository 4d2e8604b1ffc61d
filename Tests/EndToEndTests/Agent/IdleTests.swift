import TestSupport
import Testing

/// Agents that have nothing to do.
@Suite(.timeLimit(.minutes(5)))
struct IdleTests {
    /// How often an agent may be awake while it does nothing for so long: it looks after its
    /// folders every 10 s, all at once, and a third such moment may lie at the window's edge; the
    /// other end says every 30 s that it is alive. What wakes every 4 s is awake five times more.
    private static let window = Duration.seconds(20)
    private static let limit = 4

    @Test func `connected agents that have nothing to do sleep`() async throws {
        var random = SeededGenerator(seed: 41)
        let photo = SampleFiles.photo(100_000, using: &random)
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop, pair.pi) { agents in
                try pair.laptop.drop(photo, as: "one.jpg")
                try pair.pi.drop(photo, as: "two.jpg")
                for home in [pair.laptop, pair.pi] { try await home.awaitReceipts(1) }
                // What the drops left to do may still be under way in the first windows.
                for _ in 0..<4 {
                    let counts = try await wakes(of: agents)
                    if counts.allSatisfy({ $0.bursts <= Self.limit }) { break }
                }
                // Calm for once can be chance.
                for (agent, count) in zip(agents, try await wakes(of: agents)) {
                    #expect(count.bursts <= Self.limit, "\(agent.home.name): \(count)")
                }
            }
        }
    }

    /// How often each agent was awake within the window.
    private func wakes(of agents: [AgentProcess]) async throws -> [WakeCount] {
        var counts = try agents.map { WakeCount(try $0.voluntarySwitches()) }
        let start = ContinuousClock.now
        while ContinuousClock.now - start < Self.window {
            // What is measured, not a wait for something.
            try await Task.sleep(for: .milliseconds(250))
            for (index, agent) in agents.enumerated() {
                counts[index].look(
                    try agent.voluntarySwitches(), at: ContinuousClock.now - start)
            }
        }
        return counts
    }

    @Test func `a thread that wakes every two seconds passed for a sleeping agent`() {
        var count = WakeCount(["1 main": 5])
        for step in 1...80 {
            count.look(["1 main": 5 + step / 8], at: .milliseconds(250 * step))
        }
        #expect(count.bursts == 10)
    }

    @Test func `threads that are started anew each second passed for a sleeping agent`() {
        var count = WakeCount(["1 main": 5])
        for step in 1...80 {
            count.look(["1 main": 5, "\(10 + step / 4) worker": 0], at: .milliseconds(250 * step))
        }
        #expect(count.bursts == 20)
    }

    @Test func `threads that are awake at one moment are awake once`() {
        var count = WakeCount(["1 main": 5, "2 pool": 9])
        count.look(["1 main": 6, "2 pool": 9], at: .milliseconds(250))
        count.look(["1 main": 6, "2 pool": 12], at: .milliseconds(500))
        for step in 3...80 {
            count.look(["1 main": 6, "2 pool": 12], at: .milliseconds(250 * step))
        }
        #expect(count.bursts == 1)
    }
}
