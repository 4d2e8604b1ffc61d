/// What agents hold open and in memory after many repeats of something, beside what they held after
/// a few.
package struct Steadiness: Sendable {
    /// What one agent holds.
    private struct Holding: Sendable {
        var descriptors: Int
        var memory: Int
    }

    private let agents: [AgentProcess]
    private let before: [Holding]

    /// Notes what these agents hold now, after the first repeats.
    package init(_ agents: [AgentProcess]) throws {
        self.agents = agents
        before = try agents.map {
            Holding(descriptors: try $0.descriptorCount(), memory: try $0.peakMemory())
        }
    }

    /// Does `once` so often after `warmUp` times: agents then hold what they held between.
    package static func expect(
        of agents: [AgentProcess], warmUp: Int = 30, repeats: Int = 100,
        once: (Int) async throws -> Void
    ) async throws {
        for number in 0..<warmUp { try await once(number) }
        let before = try Steadiness(agents)
        for number in 0..<repeats { try await once(warmUp + number) }
        try await before.expect()
    }

    /// Waits until each agent has no more descriptors than before. Throws where that does not come,
    /// or where one has 5 % more memory.
    package func expect() async throws {
        for (agent, before) in zip(agents, before) {
            let name = agent.home.name
            try await eventually(within: .seconds(40), "\(name) has as many descriptors as before")
            {
                "\(try agent.descriptorCount()), and \(before.descriptors) before"
            } holds: {
                try agent.descriptorCount() <= before.descriptors
            }
            let memory = try agent.peakMemory()
            guard memory <= before.memory + before.memory / 20 else {
                throw NeverHappened(
                    what: "\(name) holds its memory: \(before.memory) before, \(memory) after")
            }
        }
    }
}
