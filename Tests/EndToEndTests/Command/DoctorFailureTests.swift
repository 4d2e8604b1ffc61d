import ChuteSystem
import Glibc
import TestSupport
import Testing

/// `chute doctor` where one part fails: its line, what to do, and how the program ends.
@Suite(.timeLimit(.minutes(2)))
struct DoctorFailureTests {
    private func withAgent(
        _ variables: [String: BytePath] = [:], _ body: (AgentHome) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            var home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0")
            home.variables = variables
            try await withAgents(home) { _ in try await body(home) }
        }
    }

    /// Waits until `doctor` says that a check fails, with this and a remedy; all that it says.
    @discardableResult
    private func awaitFailure(
        _ home: AgentHome, _ check: String, _ words: String..., remedy: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        var output = ""
        var exitCode: Int32?
        try await eventually("\(check) fails") {
            output
        } holds: {
            let result = try await home.chute("doctor")
            (output, exitCode) = (result.output, result.exitCode)
            return output.split(separator: "\n").contains { line in
                line.hasPrefix("FAILS \(check)") && words.allSatisfy { line.contains($0) }
            }
        }
        let parts = output.split(separator: "\n").first { $0.hasPrefix("FAILS \(check)") }?
            .split(separator: " -> ")
        #expect(
            parts?.count == 2 && parts?.last?.contains(remedy) == true, "\(output)",
            sourceLocation: sourceLocation)
        #expect(exitCode == 69, sourceLocation: sourceLocation)
        return output
    }

    private func chmod(_ path: BytePath, _ mode: mode_t) throws {
        guard path.withCString({ Glibc.chmod($0, mode) }) == 0 else {
            throw SystemError.current("chmod", path)
        }
    }

    @Test func `a wrong file ended doctor before it had looked at anything`() async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0")
            try home.edit("[device]", "[devise]")
            let output = try await awaitFailure(
                home, "configuration", "chute.toml:", "devise is an unknown section",
                remedy: "config check`")
            #expect(output.contains(#/chute\.toml:\d+:\d+: devise/#))
            #expect(output.contains("FAILS agent: does not run"))
            #expect(output.contains("ok    types") && output.contains("inotify"))
            let status = try await home.chute("status")
            #expect(status.exitCode == 78 && status.error.contains("devise"))
        }
    }

    @Test func `a running agent still says what it can where its file is wrong, gone or closed`()
        async throws
    {
        try await withAgent { home in
            func expectStatus(_ words: String) async throws {
                var status = try await home.chute("status")
                try await eventually("\(words) in `status`") {
                    status.output
                } holds: {
                    status = try await home.chute("status")
                    return status.output.contains(words)
                }
                #expect(status.exitCode == 0, "\(status.error)")
                #expect(status.output.contains("pics"), "\(status.output)")
            }
            let text = try home.configurationText()
            let file = home.path.appending("chute.toml")
            try home.edit("[device]", "[devise]")
            try await expectStatus("devise is an unknown section")
            let wrong = try await awaitFailure(
                home, "configuration", "devise is an unknown section", remedy: "config check`")
            // What the agent goes by is looked at.
            #expect(wrong.contains("ok    agent: runs") && wrong.contains("ok    tcp: 127.0.0.1:"))
            #expect(wrong.contains("ok    outbox \(home.outbox)"))
            #expect(
                wrong.split(separator: "\n").count { $0.contains("devise") } == 1, "said once")
            try Folder(at: home.path).remove("chute.toml")
            try await expectStatus("the file is gone")
            let gone = try await awaitFailure(
                home, "configuration", "is not there", remedy: "put it back, or run")
            #expect(gone.contains("ok    outbox \(home.outbox)"))
            try home.replaceConfiguration(with: text)
            try chmod(file, 0)
            if TestUser.agent.number != nil {
                try await expectStatus("ermission denied")
                try await awaitFailure(
                    home, "configuration", "cannot be read", remedy: "chmod u+r")
            }
        }
    }

    @Test func `a home that is not set up is one finding among others`() async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            let output = try await awaitFailure(
                home, "configuration", "is not there", remedy: "put it back, or run")
            #expect(output.contains("FAILS home \(home.path)/state: "))
            #expect(output.contains("ok    types"))
        }
    }

    @Test(.enabled(if: TestUser.isRoot, "needs a user who may not read everything"))
    func `a closed inbox was to be mounted`() async throws {
        try await withAgent { home in
            try chmod(home.inbox, 0)
            let output = try await awaitFailure(
                home, "inbox \(home.inbox)", "ermission denied",
                remedy: "chmod u+rx \(home.inbox)")
            try chmod(home.inbox, 0o755)
            #expect(!output.contains("mount the drive"))
            guard home.inbox.withCString({ chown($0, 0, 0) }) == 0 else {
                throw SystemError.current("chown", home.inbox)
            }
            try chmod(home.inbox, 0o700)
            try await awaitFailure(
                home, "inbox \(home.inbox)", remedy: "sudo chown \"$(id -un)\" \(home.inbox)")
        }
    }

    @Test(.enabled(if: TestUser.isRoot, "needs a user who may not write everywhere"))
    func `an outbox that cannot be written fails`() async throws {
        try await withAgent { home in
            try chmod(home.outbox, 0o555)
            try await awaitFailure(
                home, "outbox \(home.outbox)", "cannot be written",
                remedy: "chmod u+rwx \(home.outbox)")
            try chmod(home.outbox, 0o755)
        }
    }

    @Test(.enabled(if: canMount, "needs root"))
    func `staging that is mounted apart fails`() async throws {
        try await withAgent { home in
            let well = try await home.chute("doctor")
            let staging = home.outbox.appending(".chute/staging")
            #expect(well.output.contains("ok    staging \(staging): on its outbox's file system"))
            try mountTmpfs(staging, "size=64k,mode=777")
            do {
                try await awaitFailure(
                    home, "staging \(staging)", "another file system", remedy: "unmount")
            } catch {
                try unmount(staging)
                throw error
            }
            try unmount(staging)
        }
    }

    @Test func `too little space fails`() async throws {
        try await withAgent { home in
            try home.edit("# min_free = \"1 GiB\"", "min_free = \"900 TB\"")
            try await awaitFailure(
                home, "outbox \(home.outbox)", "to stay free", remedy: "min_free in [[folder]]")
        }
    }

    @Test func `a database of types that is not there fails`() async throws {
        try await withAgentFolder { folder in
            var home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0")
            home.variables = ["MAGIC": folder.appending("none.mgc")]
            try await awaitFailure(home, "types", remedy: "libmagic-mgc")
        }
    }

    @Test func `a proxy that does not answer fails`() async throws {
        let proxy = try FreePort.pair().0.address
        let url = "wss://chute.invalid/chute"
        try await withAgent(["https_proxy": BytePath("http://\(proxy)")]) { home in
            let text = try home.configurationText()
            let section = try #require(text.firstRange(of: "[transports.websocket]"))
            let rest = text[section.lowerBound...].replacing(
                "# connect = []", with: "connect = [\"\(url)\"]", maxReplacements: 1)
            try home.replaceConfiguration(
                with: String(text[..<section.lowerBound]) + String(rest))
            try await awaitFailure(home, url, remedy: "connect")
        }
    }

    @Test(.multicastDNS) func `multicast without a network fails, and so does what needs it`()
        async throws
    {
        try await MDNSHost.with(1) { hosts in
            try await LANHomes.with(hosts) { lan in
                try await lan.running { _ in
                    try NetworkNamespaces.ip("link", "set", "eth0", "down", on: hosts[0].network)
                    let output = try await awaitFailure(
                        lan.homes[0], "multicast", "no network interface", remedy: "ticket")
                    #expect(output.contains("note  multicast IPv6"))
                    try await awaitFailure(
                        lan.homes[0], "lan", "waits", remedy: "connect this device")
                }
            }
        }
    }

    @Test func `a list was not to be had from a running agent without its file`() async throws {
        try await withAgent { home in
            try Folder(at: home.path).remove("chute.toml")
            let list = try await home.chute("list")
            #expect(list.exitCode == 0, "\(list.error)")
        }
    }

    @Test func `a remedy in JSON named a command of another home`() async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0")
            let json = try await home.chute("doctor", "--json")
            #expect(json.exitCode == 69)
            #expect(json.output.contains("`chute --home \(home.path) run`"), "\(json.output)")
        }
    }
}
