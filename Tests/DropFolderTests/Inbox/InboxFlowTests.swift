import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

/// The way of a file from the folder to the moment when it is whole, with short patience.
private struct Flow {
    let watcher: InboxWatcher
    let probe = LeaseProbe { file, size in
        let last = try? file.read(count: 1, at: size - 1)
        return last == Array("!".utf8) ? .complete : last == Array("/".utf8) ? .cut : .unknown
    }
    let clock = ContinuousClock()
    let start = ContinuousClock().now
    var tracker: SettleTracker
    var history = NameHistory()
    var settled: [(path: BytePath, size: UInt64, note: IngestNote?)] = []
    var sightings: [InboxSighting] = []

    init(_ watcher: InboxWatcher, suspect: Duration) {
        self.watcher = watcher
        var patience = SettleTracker.Patience()
        patience.closed = .milliseconds(50)
        patience.created = .milliseconds(100)
        patience.suspect = suspect
        patience.busyPause = .milliseconds(5) ... .milliseconds(20)
        tracker = SettleTracker(patience: patience)
    }

    private var now: Duration { clock.now - start }

    /// Carries sightings and deadlines until something is true. The time limit of the suite ends
    /// a wait that is in vain.
    mutating func run(until isEnough: (Flow) -> Bool) async {
        while !isEnough(self), !Task.isCancelled {
            await withTaskGroup(of: [InboxSighting].self) { group in
                let watcher = watcher
                group.addTask { await watcher.next() ?? [] }
                if let deadline = tracker.nextDeadline {
                    let moment = start + deadline
                    group.addTask {
                        try? await Task.sleep(until: moment)
                        return []
                    }
                }
                var seen = await group.next() ?? []
                group.cancelAll()
                for await more in group { seen += more }
                await take(seen)
            }
        }
    }

    /// The file is whole, and what happened to its name is known: the file can be quicker.
    func hasTold(of path: BytePath, size: UInt64) -> Bool {
        settled.last?.size == size && history.continuity(of: path) != .undisturbed
    }

    private mutating func take(_ seen: [InboxSighting]) async {
        sightings += seen
        for event in seen.compactMap(\.nameEvent) { history.handle(event, now: now) }
        for event in seen.compactMap(\.settleEvent) + [.timePassed] {
            var effects = tracker.handle(event, now: now)
            while !effects.isEmpty {
                switch effects.removeFirst() {
                case .probe(let path): effects += await look(at: path)
                case .settled(let path, let fingerprint, let note):
                    settled.append((path, fingerprint.size, note))
                case .dropped: break
                }
            }
        }
    }

    private mutating func look(at path: BytePath) async -> [SettleTracker.Effect] {
        guard let root = watcher.root,
            case .file(let answer, _) = probe.look(at: path, in: root)
        else { return tracker.handle(.vanished(path), now: now) }
        return tracker.handle(.probed(path, answer), now: now)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct InboxFlowTests {
    private func withFlow(
        suspect: Duration = .milliseconds(200),
        _ body: (inout Flow, borrowing Folder) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { path in
            let watcher = InboxWatcher(path: path)
            await withTaskGroup { group in
                group.addTask { await watcher.run() }
                var flow = Flow(watcher, suspect: suspect)
                await flow.run { $0.sightings.contains(.state(.watching)) }
                do {
                    try await body(&flow, Folder(at: path))
                } catch {
                    Issue.record(error)
                }
                group.cancelAll()
            }
        }
    }

    @Test func `a writer that stalls is waited for`() async throws {
        try await withFlow { flow, root in
            do {
                let writer = try root.open("slow", O_CREAT | O_WRONLY)
                try writer.write(Array("half".utf8), at: 0)
                // Another file goes all its way meanwhile, the slow one does not.
                try root.makeFile("quick", "abc")
                await flow.run { !$0.settled.isEmpty }
                #expect(flow.settled.map(\.path) == ["quick"])
                try writer.write(Array(" and whole!".utf8), at: 4)
            }
            await flow.run { $0.settled.last?.path == "slow" }
            #expect(flow.settled.filter { $0.path == "slow" }.allSatisfy { $0.size == 15 })
        }
    }

    @Test func `a cut file is completed before its time is over`() async throws {
        // Longer than a busy machine can hold the second write back.
        try await withFlow(suspect: .seconds(30)) { flow, root in
            try root.makeFile("a", "cut/")
            await flow.run { $0.tracker.nextDeadline != nil }
            try root.makeFile("a", "cut/ and whole!")
            await flow.run { !$0.settled.isEmpty }
            #expect(flow.settled.allSatisfy { $0.size == 15 && $0.note == nil })
        }
    }

    @Test func `a cut file goes out in the end, with a note`() async throws {
        try await withFlow { flow, root in
            try root.makeFile("a", "cut/")
            try root.makeFile("b", "")
            await flow.run { Set($0.settled.map(\.path)).count == 2 }
            #expect(Set(flow.settled.map(\.note)) == [.possiblyTruncated, .empty])
        }
    }

    @Test func `a partial name is never handed over, its final name once`() async throws {
        try await withFlow { flow, root in
            try root.makeFile("x.pdf.filepart", "first!")
            try root.makeFile("x.pdf.filepart", "first and second!")
            try root.rename("x.pdf.filepart", to: "x.pdf")
            try root.makeFile("last", "!")
            await flow.run { $0.settled.last?.path == "last" }
            #expect(Set(flow.settled.map(\.path)) == ["x.pdf", "last"])
        }
    }

    // A file without a name that gets one: its close never comes under that name.
    @Test func `links and nameless files are handed over`() async throws {
        try await withFlow { flow, root in
            try root.makeFolder(".aside")
            try root.makeFile(".aside/a", "abc")
            try root.link(".aside/a", to: "linked", in: root)
            do {
                let raw = openat(root.descriptor.raw, ".aside/b", O_CREAT | O_WRONLY, 0o600)
                let nameless = FileDescriptor(owning: raw)
                try nameless.write(Array("abcd".utf8), at: 0)
                try root.link(nameless, to: "named")
            }
            await flow.run { Set($0.settled.map(\.path)).count == 2 }
            #expect(Set(flow.settled.map(\.path)) == ["linked", "named"])
        }
    }

    @Test func `the saves of editors go on under the old name`() async throws {
        try await withFlow { flow, root in
            try root.makeFile("a", "old!")
            await flow.run { $0.settled.last?.size == 4 }
            try root.rename("a", to: "a~")
            try root.makeFile("a", "fresh!")
            try root.remove("a~")
            await flow.run {
                $0.hasTold(of: "a", size: 6) && $0.history.continuity(of: "a") != .undisturbed
            }
            #expect(flow.history.continuity(of: "a") == .takenAgain)

            flow.history.forget("a")
            try root.makeFile(".a.tmp", "fresher!")
            try root.rename(".a.tmp", to: "a")
            await flow.run {
                $0.hasTold(of: "a", size: 8) && $0.history.continuity(of: "a") != .undisturbed
            }
            #expect(flow.history.continuity(of: "a") == .replacedByRename)

            flow.history.forget("a")
            try root.remove("a")
            try root.makeFile("a", "another one!")
            await flow.run {
                $0.hasTold(of: "a", size: 12) && $0.history.continuity(of: "a") != .undisturbed
            }
            #expect(flow.history.continuity(of: "a") == .seenAbsent)
        }
    }
}
