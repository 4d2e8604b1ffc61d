import ChuteSystem
import TestSupport
import Testing

/// Agents that are asked to stop.
@Suite(.timeLimit(.minutes(3)))
struct StoppingTests {
    /// Two seconds are promised; one more is for a machine that runs other tests meanwhile.
    private static let limit = Duration.seconds(3)

    @Test(arguments: [true, false])
    func `an agent stops at once in the middle of a transfer, and goes on later`(
        isSender: Bool
    ) async throws {
        var random = SeededGenerator(seed: 7)
        let film = random.bytes(300_000_000)
        let expected = FolderTree(files: ["laptop/film.bin": .init(film)])
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop, pair.pi) { agents in
                try pair.laptop.drop(film, as: "film.bin")
                try await eventually("a transfer is under way") {
                    try await pair.pi.status().transfers.contains { $0.done > 0 }
                }
                let clock = ContinuousClock()
                let started = clock.now
                let end = try await agents[isSender ? 0 : 1].stop()
                #expect(end.exitCode == 0)
                #expect(clock.now - started < Self.limit)
            }
            #expect(try FolderTree.paths(below: pair.pi.outbox).isEmpty)
            try await withAgents(pair.laptop, pair.pi) { _ in
                try await pair.pi.awaitOutbox(expected)
                try await pair.laptop.awaitReceipts(1)
            }
        }
    }

    @Test func `an agent that does nothing stops at once`() async throws {
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { agents in
                let end = try await agents[0].stop()
                #expect(end.exitCode == 0)
                #expect(try await !pair.laptop.status().running)
            }
        }
    }
}
