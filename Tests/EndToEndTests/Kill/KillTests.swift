import ChuteSystem
import TestSupport
import Testing

/// Kills agents under load in every step of a file's way, and looks that nothing is lost, shown
/// in part or delivered twice, and that every receipt is true.
///
/// `CHUTE_KILLS` is how many (40), `CHUTE_SEED` gives the moments, sizes and bytes of a run
/// again.
@Suite(.timeLimit(.minutes(60)))
struct KillTests {
    @Test func `no kill loses a file, shows a part of one or delivers one twice`() async throws {
        let kills = Self.number("CHUTE_KILLS").map { Int(clamping: $0) } ?? 40
        let seed = Self.number("CHUTE_SEED") ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("KillTests: \(kills) kills, CHUTE_SEED=\(seed)")
        try await AgentPair.with { pair in
            let watcher = try OutboxWatcher(pair.pi.outbox)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watcher.run() }
                var run = try await KillRun(
                    pair: pair, watcher: watcher, kills: kills, random: SeededGenerator(seed: seed))
                try await run.kill()
                print(run.tally)
                try await run.finish()
                group.cancelAll()
            }
            #expect(watcher.wrong == [])
            #expect(watcher.count > 0)
        }
    }

    private static func number(_ variable: String) -> UInt64? {
        ProcessEnvironment.current[variable].flatMap { UInt64($0.description) }
    }
}
