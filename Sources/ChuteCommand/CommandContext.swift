import ChuteSystem
import DropFolder

/// What a command works with.
struct CommandContext: Sendable {
    var home: Home
    var environment: ProcessEnvironment
    var currentFolder: BytePath
    var output = StandardStream.output
    var errors = StandardStream.error
    /// What `output` can show.
    var terminal: Terminal
    var log: Log
    /// `-q`: only what was asked for.
    var isQuiet = false
    /// The absolute path of this program.
    var executable: BytePath
    var keys: DeviceKeys
    var agent: any AgentAccess

    /// Makes suggested commands those of this home.
    var hints: Hints { Hints(home: home.folder) }

    /// Says what was done, unless `-q`.
    func say(_ line: String) throws {
        if !isQuiet { try output.writeLine(hints.complete(line)) }
    }

    /// Prints text for people that was asked for.
    func show(_ text: String) throws { try output.write(hints.complete(text)) }

    /// Says what a person should know beside the result, on standard error.
    func note(_ line: String) throws {
        if !isQuiet { try errors.writeLine("chute: " + Log.escaped(hints.complete(line))) }
    }

    /// The configuration; `nil` where this home has none. An error says where the file is wrong.
    func configuration() throws -> Configuration? {
        do {
            return try Configuration.load(home)
        } catch let error as SystemError {
            throw CommandError(.configuration, "the configuration cannot be read: \(error)")
        }
    }

    /// The configuration of a home that must be set up.
    func requiredConfiguration() throws -> Configuration {
        if let configuration = try configuration() { return configuration }
        throw notSetUp
    }

    /// Whether this home has a configuration, right or wrong.
    var isSetUp: Bool {
        get throws {
            do throws(SystemError) {
                _ = try FileStatus.of(home.configurationFile, followingLinks: true)
                return true
            } catch {
                if error.isNotFound { return false }
                throw CommandError(.configuration, "the configuration cannot be read: \(error)")
            }
        }
    }

    /// For commands that ask the agent, which may go by what the file said before it was wrong, or
    /// gone.
    func checkIsSetUp() async throws {
        if try await agent.isRunning() { return }
        if try !isSetUp { throw notSetUp }
    }

    private var notSetUp: CommandError {
        CommandError(
            .configuration,
            "nothing is set up at \(home.configurationFile): run `chute init` or `chute run` first")
    }
}
