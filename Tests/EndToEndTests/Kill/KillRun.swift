import ChuteKit
import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Two agents that are killed again and again while files are dropped.
struct KillRun {
    private(set) var tally: KillTally
    private let pair: AgentPair
    private let watcher: OutboxWatcher
    private let kills: Int
    private var random: SeededGenerator
    private var sender: Life
    private var receiver: Life
    /// What was dropped, by the names that it is to have in the outbox.
    private var expected = FolderTree()
    /// Documents whose receipts were found true, at the sender and at the receiver.
    private var proven: [KillStep.Victim: Set<DocumentID>] = [:]
    private var round = 0
    /// In microseconds: how long after the signs of a step a kill may come.
    private var delays: [KillStep: Int] = [:]

    /// An agent from its start to its kill.
    private struct Life {
        let agent: AgentProcess
        let started: FileStatus.Nanoseconds

        init(_ home: AgentHome) async throws {
            started = KillAim.now()
            agent = try await AgentProcess(home)
        }
    }

    /// Enough that each kill falls into a burst, and few enough to go on after it.
    private static let burst = 12
    /// More than may be on its way at once, so that a cut leaves a part of it.
    private static let longFile = 16_000_000...32_000_000
    private static let film = 200_000_000
    /// In microseconds: an agent has started after that.
    private static let startUp = 100_000
    /// So long nothing comes any more from an agent that is dead.
    private static let silence = Duration.milliseconds(60)

    /// Starts both agents and waits until a first file went all the way.
    init(
        pair: AgentPair, watcher: OutboxWatcher, kills: Int, random: SeededGenerator
    ) async throws {
        self.pair = pair
        self.watcher = watcher
        self.kills = kills
        self.random = random
        tally = KillTally(of: kills)
        sender = try await Life(pair.laptop)
        receiver = try await Life(pair.pi)
        for file in try [prepare(1000, as: "first.jpg")] { try drop(file) }
        try await pair.laptop.awaitReceipts(1)
    }

    /// Kills until there were as many as wanted, and enough in each step; waits then until
    /// everything is delivered, and ends the agents.
    mutating func kill() async throws {
        do {
            while tally.kills < kills || !tally.missing.isEmpty {
                guard tally.kills < kills * 3 else {
                    throw NeverHappened(what: "\(tally.quota) kills in each step: \(tally)")
                }
                let steps = tally.kills < kills ? KillStep.allCases : tally.missing
                for step in steps.shuffled(using: &random) { try await kill(in: step) }
            }
            try await pair.pi.awaitOutbox(expected, within: .seconds(180))
            try await pair.laptop.awaitReceipts(expected.files.count, within: .seconds(60))
        } catch {
            for agent in [sender.agent, receiver.agent] {
                print("\(agent.home.name): \(try agent.log)")
                for command: BytePath in ["status", "list"] {
                    let lines = try await agent.home.chute(command).output.split(separator: "\n")
                    let open = lines.filter { !$0.contains("delivered") }
                    print(open.suffix(50).joined(separator: "\n"))
                }
            }
            try await sender.agent.kill()
            try await receiver.agent.kill()
            throw error
        }
        try await sender.agent.stop()
        try await receiver.agent.stop()
    }

    private mutating func kill(in step: KillStep) async throws {
        let files = try prepareBurst(for: step)
        let life = step.victim == .sender ? sender : receiver
        let longest = delays[step] ?? step.duration
        let aim = try KillAim(
            at: life.agent, KillSigns(of: step, pair),
            delay: Int.random(in: 0...longest, using: &random))
        async let firing = aim.fire()
        for file in files { try drop(file) }
        let moment = await firing
        let hit = try await look(
            at: step.victim, try await life.agent.ended(), started: life.started, killed: moment)
        tally.count(aimedAt: step, hit)
        // Disks differ in how long a step takes; what is missed is over by then.
        delays[step] =
            hit.contains { $0.step == step }
            ? min(step.duration, longest * 5 / 4) : max(step.duration / 8, longest * 3 / 4)
        if Int.random(in: 0..<4, using: &random) == 0 { try await killStarting(step.victim) }
        if step.victim == .sender {
            sender = try await Life(pair.laptop)
        } else {
            receiver = try await Life(pair.pi)
        }
    }

    /// Kills an agent that has just started, while it looks at what the kill before left.
    private mutating func killStarting(_ victim: KillStep.Victim) async throws {
        let started = KillAim.now()
        let program = try home(of: victim).start(["-v", "run"])
        try await Task.sleep(for: .microseconds(Int.random(in: 0...Self.startUp, using: &random)))
        let moment = KillAim.now()
        program.send(signal: SIGKILL)
        let ended = try await program.finished()
        tally.count(
            aimedAt: nil, try await look(at: victim, ended, started: started, killed: moment))
    }

    /// Looks at what a killed agent left, and at whether what its store says is true; the steps
    /// that the kill came into, with the files.
    private mutating func look(
        at victim: KillStep.Victim, _ ended: RunningProgram.Finished,
        started: FileStatus.Nanoseconds, killed: FileStatus.Nanoseconds
    ) async throws -> [Remains.Trace] {
        guard ended.end == .killed(signal: SIGKILL) else {
            throw NeverHappened(what: "an agent lived until its kill: \(ended.end) \(ended.error)")
        }
        let known = proven[victim, default: []]
        let (traces, deliveries) = try await Remains.look(
            at: home(of: victim), started: started, killed: killed
        ) { remains in
            let deliveries = try await remains.deliveries(except: known)
            switch victim {
            case .sender: return (try await remains.ingested(), deliveries)
            case .receiver:
                return (try await remains.fetched() + remains.published(), deliveries)
            }
        }
        for delivery in deliveries {
            try prove(delivery)
            proven[victim, default: []].insert(delivery.document)
        }
        return victim == .sender ? traces + (try await cutOff(at: killed)) : traces
    }

    private func home(of victim: KillStep.Victim) -> AgentHome {
        victim == .sender ? pair.laptop : pair.pi
    }

    /// Files that the receiver has in part, and was given bytes of when its only source died.
    private func cutOff(at moment: FileStatus.Nanoseconds) async throws -> [Remains.Trace] {
        // What the dead one has sent is still read; then no file grows any more.
        var staged: [BytePath: FileStatus] = [:]
        var since = ContinuousClock.now
        try await eventually("the receiver has read what was sent") {
            let found = try pair.pi.stagedFiles()
            if found != staged { (staged, since) = (found, .now) }
            return since.duration(to: .now) > Self.silence
        }
        let whole = Set(expected.files.values)
        return try staged.filter { Remains.isFresh($0.value, at: moment) }.compactMap { file in
            do throws(SystemError) {
                let content = try FolderTree.Content(of: file.key)
                return whole.contains(content)
                    ? nil : Remains.Trace(step: .send, file: file.key)
            } catch {
                guard error.isNotFound else { throw error }
                return nil
            }
        }
    }

    /// A receipt says that a file was delivered: then it lies there, whole.
    private func prove(_ delivery: Remains.Delivery) throws {
        let name = BytePath(pair.laptop.name).appending(delivery.path)
        var found: FolderTree.Content?
        do throws(SystemError) {
            found = try FolderTree.Content(of: pair.pi.outbox.appending(name))
        } catch {
            guard error.isNotFound else { throw error }
        }
        #expect(
            found != nil && found == expected.files[name], "the receipt for \(name) is not true")
        #expect(!delivery.isRemoved, "nobody removed \(name)")
    }

    /// A file beside the inbox and the name that it is to have there.
    private struct Prepared {
        let file: BytePath
        let name: BytePath
    }

    private mutating func prepareBurst(for step: KillStep) throws -> [Prepared] {
        round += 1
        var files: [Prepared] = []
        if round == kills / 3 { files.append(try prepare(Self.film, as: "film.bin")) }
        if step == .send || step == .fetch {
            let size = Int.random(in: Self.longFile, using: &random)
            files.append(try prepare(size, as: BytePath("long \(round).bin")))
        }
        for number in 0..<Self.burst {
            let size = Int.random(in: 1000...300_000, using: &random)
            files.append(try prepare(size, as: BytePath("burst \(round)/\(number).jpg")))
        }
        return files
    }

    private mutating func prepare(_ byteCount: Int, as name: BytePath) throws -> Prepared {
        let isPhoto = name.bytes.suffix(4) == [UInt8](".jpg".utf8)[...]
        let bytes =
            isPhoto
            ? SampleFiles.photo(byteCount, using: &random)
            : SampleFiles.long(byteCount, using: &random)
        let content = FolderTree.Content(bytes)
        let published = BytePath(pair.laptop.name).appending(name)
        watcher.expect(content, as: published)
        expected.files[published] = content
        return Prepared(file: try pair.laptop.prepare(bytes), name: name)
    }

    private func drop(_ prepared: Prepared) throws {
        try pair.laptop.drop(prepared.file, as: prepared.name)
    }

    /// Everything is as it was after both started again and had nothing left to do.
    func finish() async throws {
        try await withAgents(pair.laptop, pair.pi) { _ in
            try await eventually("both know each other again") {
                try await pair.laptop.status().peers.contains { $0.connected }
            }
            try await pair.laptop.awaitReceipts(expected.files.count)
            try await pair.pi.awaitOutbox(expected)
            let delivered = try await pair.pi.status().folder?.delivered
            #expect(delivered == expected.files.count)
            // What the sender shows: one document for each file, each with the receipt.
            let shown = try await pair.laptop.list().documents
            #expect(
                shown.map { BytePath(pair.laptop.name).appending($0.name) }.sorted()
                    == expected.files.keys.sorted())
            let receipt = AgentList.Receipt(peer: pair.pi.name, state: "delivered")
            #expect(shown.filter { $0.receipts != [receipt] }.map(\.name) == [])
            // Nobody's own file was touched.
            let inbox = try FolderTree(of: pair.laptop.inbox)
            #expect(inbox.below(BytePath(pair.laptop.name)) == expected)
            try await eventually("nothing is left in staging") {
                try pair.pi.stagedFiles().keys.sorted().description
            } holds: {
                try pair.pi.stagedFiles().isEmpty
            }
        }
    }
}
