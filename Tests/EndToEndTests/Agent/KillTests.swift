import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Kills agents under load at moments of chance, and looks that nothing is lost, shown in part or
/// delivered twice.
///
/// `CHUTE_KILLS` is how many (40), `CHUTE_SEED` makes a run again.
@Suite(.timeLimit(.minutes(60)))
struct KillTests {
    /// What is going on when the kill comes, and thus whom it hits.
    enum Moment: CaseIterable {
        case ingest, send, fetch, publish, record

        var hitsSender: Bool { self == .ingest || self == .send }
    }

    @Test func `no kill loses a file, shows a part of one or delivers one twice`() async throws {
        let kills = Self.number("CHUTE_KILLS") ?? 40
        let seed = Self.number("CHUTE_SEED") ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("KillTests: \(kills) kills, CHUTE_SEED=\(seed)")
        try await AgentPair.with { pair in
            let watcher = try OutboxWatcher(pair.pi.outbox)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watcher.run() }
                var run = Run(pair: pair, watcher: watcher, random: SeededGenerator(seed: seed))
                try await run.kill(Int(kills))
                let counts = run.moments.map { "\($0.key) \($0.value)" }.sorted()
                print("KillTests: \(counts.joined(separator: ", "))")
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

    /// The state of one run of the test.
    private struct Run {
        let pair: AgentPair
        let watcher: OutboxWatcher
        var random: SeededGenerator
        var expected = FolderTree()
        var moments: [Moment: Int] = [:]

        /// Enough that each kill falls into a burst, and few enough to go on after it.
        private static let burst = 12
        private static let largeFile = 200_000_000

        mutating func kill(_ kills: Int) async throws {
            var laptop = try await AgentProcess(pair.laptop)
            var pi = try await AgentProcess(pair.pi)
            do {
                for number in 0..<kills {
                    let moment = Moment.allCases[number % Moment.allCases.count]
                    if number == kills / 3 { try drop(Self.largeFile, as: "film.bin") }
                    for file in 0..<Self.burst {
                        let size = Int.random(in: 1000...300_000, using: &random)
                        try drop(size, as: BytePath("burst \(number)/\(file).jpg"))
                    }
                    try await reach(moment)
                    moments[moment, default: 0] += 1
                    if moment.hitsSender {
                        try await laptop.kill()
                        laptop = try await AgentProcess(pair.laptop)
                    } else {
                        try await pi.kill()
                        pi = try await AgentProcess(pair.pi)
                    }
                }
                try await pair.pi.awaitOutbox(expected, within: .seconds(180))
                try await pair.laptop.awaitReceipts(expected.files.count, within: .seconds(60))
            } catch {
                print("laptop: \(try laptop.log)\npi: \(try pi.log)")
                try await laptop.kill()
                try await pi.kill()
                throw error
            }
            try await laptop.stop()
            try await pi.stop()
        }

        /// Everything is as it was after both started again and had nothing left to do.
        func finish() async throws {
            try await withAgents(pair.laptop, pair.pi) { _ in
                try await eventually("both know each other again") {
                    let peers = try await pair.laptop.status().peers
                    return peers.contains { $0.connected }
                }
                try await pair.laptop.awaitReceipts(expected.files.count)
                try await pair.pi.awaitOutbox(expected)
                let delivered = try await pair.pi.status().folder?.delivered
                #expect(delivered == expected.files.count)
            }
        }

        private mutating func drop(_ byteCount: Int, as name: BytePath) throws {
            let bytes =
                name.bytes.ends(with: ".jpg")
                ? SampleFiles.photo(byteCount, using: &random) : random.bytes(byteCount)
            let content = FolderTree.Content(bytes)
            watcher.expect(content)
            expected.files[BytePath(pair.laptop.name).appending(name)] = content
            try pair.laptop.drop(bytes, as: name)
        }

        /// Waits for the beginning of a moment, and then for some of it. Gives up where it does
        /// not come, since the burst may be through already.
        private mutating func reach(_ moment: Moment) async throws {
            let published = watcher.count
            do {
                try await eventually(within: .seconds(3), "\(moment)") {
                    switch moment {
                    case .ingest: true
                    case .send, .fetch: try isStaging
                    case .publish, .record: watcher.count > published
                    }
                }
            } catch is NeverHappened {}
            let microseconds: Int
            switch moment {
            case .ingest: microseconds = Int.random(in: 0...40_000, using: &random)
            case .send, .fetch: microseconds = Int.random(in: 0...20_000, using: &random)
            case .publish: microseconds = Int.random(in: 0...2_000, using: &random)
            case .record: microseconds = Int.random(in: 2_000...15_000, using: &random)
            }
            try await Task.sleep(for: .microseconds(microseconds))
        }

        /// Whether a file of the receiver is on its way in.
        private var isStaging: Bool {
            get throws {
                let staging = pair.pi.outbox.appending(".chute/staging")
                do throws(SystemError) {
                    for start in try Folder(at: staging).entries() {
                        let entries = try Folder(at: staging.appending(start.name)).entries()
                        if !entries.isEmpty { return true }
                    }
                    return false
                } catch {
                    if error.isNotFound { return false }
                    throw error
                }
            }
        }
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool {
        suffix(text.utf8.count) == Array(text.utf8)[...]
    }
}
