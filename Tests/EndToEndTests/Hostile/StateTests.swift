import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Homes that an agent must not start on, and must not change.
@Suite(.timeLimit(.minutes(3)))
struct StateTests {
    private func withHome(_ body: (AgentHome) async throws -> Void) async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", FreePort.pair().0.address)
            try await body(home)
        }
    }

    /// A home whose agent has run once.
    private func withUsedHome(_ body: (AgentHome) async throws -> Void) async throws {
        try await withHome { home in
            try await withAgents(home) { agents in _ = try await agents[0].stop() }
            try await body(home)
        }
    }

    /// Expects `chute run` to end at once with this code and one sentence.
    private func expectRefusal(
        _ home: AgentHome, _ code: Int32, _ word: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let program = try home.start(["-q", "run"])
        let limit = Task {  // only an agent that should not run gets there
            try await Task.sleep(for: .seconds(30))
            program.send(signal: SIGKILL)
        }
        let result = try await program.finished()
        limit.cancel()
        #expect(result.exitCode == code, "\(result.error)", sourceLocation: sourceLocation)
        #expect(result.error.contains(word), "\(result.error)", sourceLocation: sourceLocation)
        #expect(
            result.error.split(separator: "\n").count == 1, "\(result.error)",
            sourceLocation: sourceLocation)
    }

    private func emptyLog(of path: BytePath) throws {
        _ = try Connection(path: path, mode: .readWriteCreate).checkpoint(truncate: true)
    }

    /// What is done to a database before an agent starts on it.
    enum Damage: String, CaseIterable, Sendable { case garbage, middle, newer }

    @Test(arguments: Damage.allCases)
    func `a database that cannot be used is left as it is`(damage: Damage) async throws {
        try await withUsedHome { home in
            let state = home.path.appending("state")
            let path = state.appending("chute.db")
            // The log beside it would bring back what is damaged here.
            try emptyLog(of: path)
            switch damage {
            case .garbage:
                try Folder(at: state).remove("chute.db")
                var random = SeededGenerator(seed: 11)
                try SampleFiles.write(random.bytes(100_000), to: path)
                try home.user.own(path)
            case .middle:
                // The header is right, the schema that comes after it is not.
                let file = try FileDescriptor.open(path, FileDescriptor.readWrite)
                try file.write([UInt8](repeating: 0xA5, count: 3996), at: 100)
            case .newer:
                try Connection(path: path, mode: .readWriteCreate).execute(
                    "PRAGMA user_version = 1000")
                try emptyLog(of: path)
            }
            let before = try FolderTree.Content(of: path)
            let key = try FolderTree.Content(of: state.appending("device.key"))
            try await expectRefusal(home, 78, damage == .newer ? "later version" : "damaged")
            #expect(try FolderTree.Content(of: path) == before)
            #expect(try FolderTree.Content(of: state.appending("device.key")) == key)
        }
    }

    @Test func `a second agent finds the home held, and the folders too`() async throws {
        try await withHome { home in
            try await withAgents(home) { _ in
                try await expectRefusal(home, 75, home.path.description)
                let other = try AgentHome("other", in: home.path.parent)
                try await other.setUp(
                    "--listen", FreePort.pair().0.address, "--inbox", home.inbox, "--outbox",
                    home.outbox)
                try await expectRefusal(other, 75, home.inbox.description)
                #expect(try await home.status().running)
            }
        }
    }

    @Test func `an inbox in an outbox is a wrong configuration`() async throws {
        try await withHome { home in
            // By hand: `init` says so at once.
            let path = home.path.appending("chute.toml")
            let file = try FileDescriptor.open(path, FileDescriptor.readWrite)
            let text = String(decoding: try file.read(count: 1 << 20, at: 0), as: UTF8.self)
            let changed = text.replacing("inbox = \"inbox\"", with: "inbox = \"outbox/in\"")
            try #require(changed != text)
            try file.truncate(to: 0)
            try file.write(Array(changed.utf8), at: 0)
            try await expectRefusal(home, 78, "outbox/in")
        }
    }

    @Test func `an outbox of the same space is no inbox of another home`() async throws {
        try await AgentPair.with { pair in
            // A stop lets the agent mark its folders first; a kill might not.
            try await withAgents(pair.laptop) { agents in _ = try await agents[0].stop() }
            let third = try AgentHome("third", in: pair.laptop.path.parent)
            try await third.setUp(
                "--listen", FreePort.pair().0.address, "--inbox", pair.laptop.outbox,
                "--shared-key", pair.laptop.path.parent.appending("space.key"))
            try await expectRefusal(third, 78, pair.laptop.outbox.description)
        }
    }

    @Test func `a copied home is told from a moved one`() async throws {
        try await withUsedHome { home in
            let copy = try AgentHome("copy", in: home.path.parent)
            let result = try await home.start(
                program: "/bin/cp", ["-a", home.path, copy.path]
            ).finished()
            try #require(result.exitCode == 0, "\(result.error)")
            try await expectRefusal(copy, 78, "--moved")
            let agent = try await AgentProcess(copy, ["--moved"])
            #expect(try await copy.status().device.id == home.status().device.id)
            try await agent.stop()
            // Said once: the copy is the home now.
            try await withAgents(copy) { _ in }
        }
    }
}
