import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Configurations that a running agent must not go by, and what it goes by instead.
@Suite(.timeLimit(.minutes(2)))
struct RefusedConfigurationTests {
    private static let kept = "is used until it is mended"

    /// Waits until `status` says all these words; what it says.
    @discardableResult
    private func awaitWords(_ home: AgentHome, _ words: String...) async throws -> String {
        var said = ""
        try await eventually("\(words) in `status`") {
            said
        } holds: {
            said = try await home.chute("status").output
            return words.allSatisfy(said.contains)
        }
        return said
    }

    private func awaitNoTrouble(_ home: AgentHome) async throws {
        try await eventually("no problem in `status`") {
            try await !home.chute("status").output.contains(Self.kept)
        }
    }

    /// Writes as programs do that empty a file first: `text` in two halves, with a pause.
    private func writeSlowly(_ text: String, to home: AgentHome) async throws {
        let file = try FileDescriptor.open(
            home.path.appending("chute.toml"), O_WRONLY | O_TRUNC)
        let bytes = Array(text.utf8)
        try await Task.sleep(for: .milliseconds(300))
        try file.write(Array(bytes[..<(bytes.count / 2)]), at: 0)
        try await Task.sleep(for: .milliseconds(300))
        try file.write(Array(bytes[(bytes.count / 2)...]), at: UInt64(bytes.count / 2))
    }

    /// How often an agent of the process started.
    private func startCount(_ agent: AgentProcess) throws -> Int {
        try agent.log.split(separator: "\n").count { $0.contains(" runs, ") }
    }

    private func withAgent(
        _ body: (AgentHome, AgentProcess) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0")
            try await withAgents(home) { try await body(home, $0[0]) }
        }
    }

    @Test func `a file that was emptied had a device with a shared key leave its space`()
        async throws
    {
        try await AgentPair.running { pair, agents in
            let text = try pair.laptop.configurationText()
            try await eventually("connected") {
                try await pair.laptop.status().peers.contains(where: \.connected)
            }
            try FileDescriptor.open(pair.laptop.path.appending("chute.toml"), O_WRONLY | O_TRUNC)
                .sync()
            try await awaitWords(pair.laptop, "chute.toml:1:1: chute.toml is empty", Self.kept)
            let status = try await pair.laptop.status()
            #expect(status.peers.contains { $0.connected })
            #expect(status.folders.map(\.collection) == ["pics"])
            try await writeSlowly(text, to: pair.laptop)
            try await awaitNoTrouble(pair.laptop)
            #expect(try startCount(agents[0]) == 1)
        }
    }

    @Test func `an editor that empties the file before it writes it changes nothing in between`()
        async throws
    {
        try await withAgent { home, agent in
            let text = try home.configurationText()
            try await writeSlowly("# One more line.\n" + text, to: home)
            try await writeSlowly(text.replacing("\"pics\"", with: "\"pictures\""), to: home)
            // `status` says what the file says; the log, what the agent goes by.
            try await eventually("another agent") { try startCount(agent) > 1 }
            #expect(try await home.status().folders.map(\.collection) == ["pictures"])
            let log = try agent.log
            #expect(!log.contains("chute.toml:"), "\(log)")
            #expect(try startCount(agent) == 2)
        }
    }

    @Test func `a shared key that is taken out is missed, unless that is said on purpose`()
        async throws
    {
        try await AgentPair.running { pair, agents in
            let laptop = pair.laptop
            let text = try laptop.configurationText()
            let line = "shared_key = \"\(pair.key)\""
            try laptop.edit(line, "# none")
            try await awaitWords(laptop, "chute.toml:1:1: [device] has no shared_key any more")
            #expect(try startCount(agents[0]) == 1)
            let check = try await laptop.chute("config", "check")
            #expect(check.exitCode == 78)
            #expect(check.error.contains("has no shared_key any more"), "\(check.error)")
            // Nor does the next start.
            _ = try await agents[0].stop()
            let refused = try await laptop.chute("run")
            #expect(refused.exitCode == 78)
            #expect(refused.error.contains("chute.toml:1:1: [device] has no shared_key any more"))
            // Its own words are taken, by a running agent too.
            try laptop.replaceConfiguration(with: text)
            try await withAgents(laptop) { _ in
                try laptop.edit(line, "shared_key = \"\"")
                try await eventually("it is in no space with others") {
                    try await laptop.status().peers.isEmpty
                }
            }
            // There is nothing left to lose.
            try laptop.edit("shared_key = \"\"", "")
            try await withAgents(laptop) { _ in
                let isRunning = try await laptop.status().running
                #expect(isRunning)
            }
        }
    }

    @Test func `an inbox and outbox that were exchanged ended the agent before they were refused`()
        async throws
    {
        try await withAgent { home, agent in
            let text = try home.configurationText()
            let exchanged =
                text.replacing("\ninbox = \"inbox\"", with: "\ninbox = \"x\"")
                .replacing("\noutbox = \"outbox\"", with: "\noutbox = \"inbox\"")
                .replacing("\ninbox = \"x\"", with: "\ninbox = \"outbox\"")
            #expect(exchanged != text)
            try home.replaceConfiguration(with: exchanged)
            let said = try await awaitWords(home, "is the outbox of this space already", Self.kept)
            #expect(said.contains(#/chute\.toml:\d+:\d+: inbox/#), "\(said)")
            #expect(try startCount(agent) == 1)
        }
    }

    @Test func `a key file that is not there ended the agent before it was refused`()
        async throws
    {
        try await AgentPair.running { pair, agents in
            try pair.laptop.edit("\(pair.key)", "\(pair.key).other")
            let said = try await awaitWords(pair.laptop, ".other cannot be read", Self.kept)
            #expect(said.contains(#/chute\.toml:\d+:\d+: shared_key/#))
            #expect(try startCount(agents[0]) == 1)
        }
    }

    @Test func `another agent's folder is refused without ending the agent`() async throws {
        try await withAgentFolder { folder in
            let homes = try ["laptop", "pi"].map { try AgentHome($0, in: folder) }
            for home in homes { try await home.setUp("--listen", "127.0.0.1:0") }
            try await withAgents(homes[0], homes[1]) { agents in
                try homes[0].edit(
                    "inbox = \"inbox\"", "inbox = \"\(homes[1].inbox)\"")
                try await awaitWords(homes[0], "another agent uses", Self.kept)
                #expect(try startCount(agents[0]) == 1)
            }
        }
    }

    @Test func `a second reason why the file cannot be read was not said`() async throws {
        try await withAgent { home, _ in
            let text = try home.configurationText()
            let folder = try Folder(at: home.path)
            try folder.remove("chute.toml")
            try await awaitWords(home, "the file is gone")
            try folder.makeFolder("chute.toml")
            try await awaitWords(home, "no file of at most 1 MiB")
            try folder.removeFolder("chute.toml")
            try await awaitWords(home, "the file is gone")
            try home.replaceConfiguration(with: text)
            try await awaitNoTrouble(home)
        }
    }
}
