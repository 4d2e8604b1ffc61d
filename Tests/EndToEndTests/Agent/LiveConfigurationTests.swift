import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Editing the configuration of a running agent.
@Suite(.timeLimit(.minutes(2)))
struct LiveConfigurationTests {
    private static let promptly = Duration.seconds(2)

    private func withAgent(
        _ body: (AgentHome, AgentProcess) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0")
            try await withAgents(home) { try await body(home, $0[0]) }
        }
    }

    /// Waits until `status` says so, and says how long that took.
    private func took(
        _ what: String, _ home: AgentHome, _ isSo: (AgentStatus) -> Bool
    ) async throws -> Duration {
        let start = ContinuousClock.now
        try await eventually(what) { isSo(try await home.status()) }
        return ContinuousClock.now - start
    }

    @Test func `another address is listened at soon after an editor saved it`() async throws {
        try await withAgent { home, _ in
            let other = try freeAddress()
            try home.edit("\"127.0.0.1:0\"", "\"\(other)\"")
            let duration = try await took("the other address", home) {
                $0.transport("tcp")?.detail == other
            }
            #expect(duration < Self.promptly)
        }
    }

    @Test func `a wrong file changes nothing, and is said with line and column until it is mended`()
        async throws
    {
        try await withAgent { home, agent in
            let before = try #require(try await home.status().transport("tcp")?.detail)
            try home.edit("[device]", "[devise]")
            var said = ""
            try await eventually("the problem in `status`") {
                said = try await home.chute("status").output
                return said.contains("chute.toml:")
            }
            #expect(said.contains(#/chute\.toml:\d+:\d+: devise is an unknown section/#))
            #expect(try await home.status().transport("tcp")?.detail == before)
            #expect(try await home.status().folders.map(\.collection) == ["pics"])
            #expect(try agent.log.contains("devise is an unknown section"))
            try home.edit("[devise]", "[device]")
            try await eventually("no problem in `status`") {
                try await !home.chute("status").output.contains("chute.toml:")
            }
            #expect(try await home.status().transport("tcp")?.detail == before)
        }
    }

    @Test func `a link that points elsewhere counts as a change`() async throws {
        try await withAgent { home, _ in
            let folder = try Folder(at: home.path)
            let other = try freeAddress()
            let text = try home.configurationText()
            for (name, text) in [
                ("one.toml", text),
                ("two.toml", text.replacing("\"127.0.0.1:0\"", with: "\"\(other)\"")),
            ] {
                let path = home.path.appending(BytePath(name))
                try SampleFiles.write(Array(text.utf8), to: path)
                try home.user.own(path)
            }
            for target in ["one.toml", "two.toml"] {
                let link = home.path.appending("link")
                guard target.withCString({ to in link.withCString { symlink(to, $0) } }) == 0
                else { throw SystemError.current("symlink", link) }
                try folder.rename("link", to: "chute.toml")
            }
            let duration = try await took("what the second file says", home) {
                $0.transport("tcp")?.detail == other
            }
            #expect(duration < Self.promptly)
        }
    }

    @Test func `a hangup signal has the agent look, and does not end it`() async throws {
        try await withAgent { home, agent in
            agent.send(signal: SIGHUP)
            try home.edit("\"pics\"", "\"pictures\"")
            agent.send(signal: SIGHUP)
            _ = try await took("another collection", home) {
                $0.running && $0.folders.first?.collection == "pictures"
            }
        }
    }

    @Test func `a folder that is taken out stops and keeps all, and goes on when it is back`()
        async throws
    {
        try await withAgent { home, agent in
            let text = try home.configurationText()
            try home.drop(photo(1), as: "one.jpg")
            _ = try await took("the file is shared", home) { $0.folders.first?.shared == 1 }
            let start = try #require(text.firstRange(of: "[[folder]]"))
            let end = try #require(text.firstRange(of: "[transports.lan]"))
            let block = String(text[start.lowerBound..<end.lowerBound])
            try home.edit(block, "")
            // `status` says what the file says: the log, what the agent goes by.
            try await eventually("a word in the log") {
                try agent.log.contains("goes by the changed configuration")
            }
            _ = try await took("no folder", home) { $0.running && $0.folders.isEmpty }
            try home.drop(photo(2), as: "two.jpg")
            #expect(try FolderTree.paths(below: home.inbox).contains("one.jpg"))
            try home.replaceConfiguration(with: text)
            _ = try await took("both files are shared", home) { $0.folders.first?.shared == 2 }
        }
    }

    @Test func `a configuration that no agent can be opened for leaves the one of before`()
        async throws
    {
        try await withAgent { home, _ in
            // A file lies where the folder would be made.
            try SampleFiles.write([1], to: home.path.appending("taken"))
            try home.edit("\"outbox\"", "\"taken\"")
            var said = ""
            try await eventually("the problem in `status`") {
                said = try await home.chute("status").output
                return said.contains("is used until it is mended")
            }
            #expect(said.contains("taken") && said.contains("outbox"))
            try home.drop(photo(1), as: "one.jpg")
            _ = try await took("the file is shared", home) { $0.folders.first?.shared == 1 }
        }
    }

    @Test func `connections of a transport that is switched off end, and come back with it`()
        async throws
    {
        try await AgentPair.running { pair in
            let laptop = pair.laptop
            _ = try await took("connected", laptop) { $0.peers.contains(where: \.connected) }
            try laptop.edit(
                "# transports = [\"lan\", \"tcp\", \"websocket\"]", "transports = []")
            let duration = try await took("not connected", laptop) {
                !$0.peers.contains(where: \.connected) && $0.transport("tcp")?.state == "off"
            }
            #expect(duration < Self.promptly)
            try laptop.edit("transports = []", "transports = [\"tcp\"]")
            _ = try await took("connected again", laptop) {
                $0.peers.contains(where: \.connected)
            }
        }
    }

    private func freeAddress() throws -> String { try FreePort.pair().0.address.description }

    private func photo(_ seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return SampleFiles.photo(2000, using: &generator)
    }
}
