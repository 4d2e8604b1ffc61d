import TestSupport
import Testing

/// Agents that have nothing to do.
@Suite(.timeLimit(.minutes(5)))
struct IdleTests {
    /// How often one thread may wake while an agent does nothing for so long: it takes two or
    /// three turns each time, and something that wakes every second takes twenty.
    private static let window = Duration.seconds(20)
    private static let limit = 12

    @Test func `connected agents that have nothing to do sleep`() async throws {
        var random = SeededGenerator(seed: 41)
        let photo = SampleFiles.photo(100_000, using: &random)
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop, pair.pi) { agents in
                try pair.laptop.drop(photo, as: "one.jpg")
                try pair.pi.drop(photo, as: "two.jpg")
                for home in [pair.laptop, pair.pi] { try await home.awaitReceipts(1) }
                for agent in agents {
                    // What the drops left to do may still be under way in the first windows.
                    var busy: [String: Int] = [:]
                    for _ in 0..<5 {
                        busy = try await wakes(of: agent).filter { $0.value > Self.limit }
                        if busy.isEmpty { break }
                    }
                    #expect(busy.isEmpty, "\(agent.home.name) wakes in \(Self.window)")
                }
            }
        }
    }

    /// How often each thread of an agent went to sleep within the window.
    private func wakes(of agent: AgentProcess) async throws -> [String: Int] {
        let before = try agent.voluntarySwitches()
        try await Task.sleep(for: Self.window)  // what is measured, not a wait for something
        return try agent.voluntarySwitches().reduce(into: [:]) {
            $0[$1.key] = $1.value - (before[$1.key] ?? 0)
        }
    }
}
