package import ChuteSystem
import Glibc

/// A home of an agent, and how commands for it are run: by whom and in which network.
package struct AgentHome: Sendable {
    package let path: BytePath
    package let name: String
    package let user: TestUser
    /// `nil`: the network of the tests.
    package let network: NetworkNamespaces.Host?
    /// The program, where `user` can run it.
    package let executable: BytePath
    /// Variables for all commands of this home, beside those that every home has. Set only once
    /// a command runs as the user: what a library does as root first would be closed to it.
    package var variables: [String: BytePath] = [:]

    package var inbox: BytePath { path.appending("inbox") }
    package var outbox: BytePath { path.appending("outbox") }

    /// Names a home below `folder`, which belongs to `user`. Nothing is made yet.
    package init(
        _ name: String, in folder: BytePath, user: TestUser = .agent,
        network: NetworkNamespaces.Host? = nil
    ) throws {
        path = folder.appending(name)
        self.name = name
        self.user = user
        self.network = network
        executable = try Self.executable(for: user, in: folder)
    }

    /// The environment of the commands: the home is also the user's, nothing else is set.
    package var environment: ProcessEnvironment {
        ProcessEnvironment([
            "HOME": path, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "CHUTE_HOME": path,
        ])
    }

    /// Starts a program as the home's user, in its network.
    package func start(
        program: BytePath, _ arguments: [BytePath], environment: ProcessEnvironment? = nil
    ) throws -> RunningProgram {
        var words = (network?.prefix ?? []) + user.prefix
        if !variables.isEmpty {
            words.append("/usr/bin/env")
            words += variables.map { BytePath(bytes: Array("\($0.key)=".utf8) + $0.value.bytes) }
        }
        words += [program] + arguments
        return try RunningProgram(
            words[0], Array(words.dropFirst()), environment: environment ?? self.environment)
    }

    /// Starts `chute` with these arguments.
    package func start(_ arguments: [BytePath]) throws -> RunningProgram {
        try start(program: executable, arguments)
    }

    /// Runs `chute` with these arguments to its end.
    @discardableResult
    package func chute(_ arguments: BytePath...) async throws -> RunningProgram.Finished {
        try await start(arguments).finished()
    }

    /// `chute init` with the home's name, and what `arguments` say; throws where it fails.
    package func setUp(_ arguments: BytePath...) async throws {
        let words: [BytePath] = ["init", "--name", BytePath(name)] + arguments
        let result = try await start(words).finished()
        guard result.exitCode == 0 else { throw Failure(command: words, result: result) }
        // What it sent beyond this host would meet whoever else is there.
        if network == nil {
            try edit("# enabled = true", "enabled = false")
            try edit("# map_port = true", "map_port = false")
        }
    }

    var configurationFile: BytePath { path.appending("chute.toml") }

    /// The text of the configuration.
    package func configurationText() throws -> String {
        let file = try FileDescriptor.open(configurationFile, FileDescriptor.readOnly)
        return String(decoding: try file.read(count: 1 << 20, at: 0), as: UTF8.self)
    }

    /// Replaces the first `old` in the configuration, as an editor does: by another file of that
    /// name.
    package func edit(_ old: String, _ new: String) throws {
        let text = try configurationText()
        let changed = text.replacing(old, with: new, maxReplacements: 1)
        guard changed != text else { throw NeverHappened(what: "\(old) in \(configurationFile)") }
        try replaceConfiguration(with: changed)
    }

    /// Puts another configuration in the place of the one that is there.
    package func replaceConfiguration(with text: String) throws {
        let edited = path.appending("chute.toml.edited")
        try SampleFiles.write(Array(text.utf8), to: edited)
        try user.own(edited)
        try Folder(at: path).rename("chute.toml.edited", to: "chute.toml")
    }

    /// Puts lines into the folder's block of the configuration. Before the agent starts.
    package func configure(_ lines: String...) throws {
        let block = ["[[folder]]"] + lines
        try edit("[[folder]]\n", block.map { $0 + "\n" }.joined())
    }

    /// What `status --json` says, also while no agent runs.
    package func status() async throws -> AgentStatus {
        let result = try await chute("status", "--json")
        guard result.exitCode == 0 || result.exitCode == 3 else {
            throw Failure(command: ["status", "--json"], result: result)
        }
        return try AgentStatus(json: result.output)
    }

    /// Puts a file into the inbox at one moment, as the home's user would by a rename.
    package func drop(_ bytes: [UInt8], as name: BytePath) throws {
        try drop(prepare(bytes), as: name)
    }

    /// A file beside the inbox, to be dropped later; its path.
    package func prepare(_ bytes: [UInt8]) throws -> BytePath {
        let prepared = path.appending(
            "staged-" + String(UInt64.random(in: 0...UInt64.max), radix: 36))
        try SampleFiles.write(bytes, to: prepared)
        try user.own(prepared)
        return prepared
    }

    /// Puts a prepared file into the inbox by a rename.
    package func drop(_ prepared: BytePath, as name: BytePath) throws {
        try makeFolders(above: name)
        try Folder(at: path).rename(
            prepared.lastComponent, to: BytePath("inbox").appending(name))
    }

    /// Which documents `list --json` shows.
    package func list() async throws -> AgentList {
        let result = try await chute("list", "--json")
        guard result.exitCode == 0 else { throw Failure(command: ["list"], result: result) }
        return try AgentList(json: result.output)
    }

    /// Makes the folders of the inbox that `name` lies in, as the home's user.
    package func makeFolders(above name: BytePath) throws {
        var folder = inbox
        for component in name.components.dropLast() {
            folder = folder.appending(BytePath(bytes: component))
            if try Folder(at: folder.parent).makeFolder(folder.lastComponent) {
                try user.own(folder)
            }
        }
    }

    /// A command did not do what the test needs.
    package struct Failure: Error, CustomStringConvertible {
        package let command: [BytePath]
        package let result: RunningProgram.Finished

        package var description: String {
            "`chute \(command.map(\.description).joined(separator: " "))` ended by \(result.end): "
                + result.error + result.output
        }
    }

    /// The program, where `user` can run it: a build below somebody's closed home is copied.
    private static func executable(for user: TestUser, in folder: BytePath) throws -> BytePath {
        guard user.number != nil, !isBuildReachable else { return RunningProgram.chute }
        let copy = folder.appending("chute-program")
        do throws(SystemError) {
            let target = try FileDescriptor.open(copy, O_WRONLY | O_CREAT | O_EXCL, mode: 0o755)
            try target.copyContents(
                of: FileDescriptor.open(RunningProgram.chute, FileDescriptor.readOnly))
        } catch {
            guard error.exists else { throw error }
        }
        return copy
    }

    private static let isBuildReachable: Bool = {
        let words = TestUser.agent.prefix + [RunningProgram.chute, "--version"]
        let run = try? CapturedRun(words[0], Array(words.dropFirst()))
        return run?.end == .exited(0)
    }()
}
