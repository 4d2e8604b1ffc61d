import ChuteSystem
import DropFolder
import Glibc

/// The program from its arguments to its exit code.
enum Program {
    static let version = "0.1.0"

    static func run() async -> ExitCode {
        // A reader that is gone is an error of the write; a broken lease is no reason to die.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGIO, SIG_IGN)
        DescriptorLimit.raise()
        let (arguments, environment) = (ProcessArguments.all, ProcessEnvironment.current)
        do {
            return try await run(arguments, environment: environment)
        } catch is StandardStream.Closed {
            return .failed
        } catch {
            let hints = Hints(
                arguments: arguments, environment: environment,
                currentFolder: ProcessArguments.currentFolder)
            return report(error, hints)
        }
    }

    private static func run(
        _ arguments: [BytePath], environment: ProcessEnvironment
    ) async throws -> ExitCode {
        if arguments.isEmpty {
            try StandardStream.error.write(HelpText.text([CommandTable.root]))
            return .usage
        }
        switch try ArgumentParser.parse(arguments) {
        case .help(let chain):
            try StandardStream.output.write(HelpText.text(chain))
            return .success
        case .version:
            try StandardStream.output.writeLine("chute \(version)")
            return .success
        case .command(let type, let arguments):
            let command = try type.init(arguments)
            return try await command.run(context(arguments, environment))
        }
    }

    private static func context(
        _ arguments: ParsedArguments, _ environment: ProcessEnvironment
    ) throws -> CommandContext {
        let currentFolder = ProcessArguments.currentFolder
        let home: Home
        do {
            home = try Home.locate(
                arguments.bytes("--home"), environment: environment, currentFolder: currentFolder)
        } catch {
            throw CommandError(.configuration, error.description)
        }
        let isQuiet = arguments.has("--quiet")
        let level: Log.Level =
            switch (isQuiet, arguments.counts["--verbose"] ?? 0) {
            case (true, _): .warning
            case (false, 0): .notice
            case (false, 1): .info
            default: .debug
            }
        let hints = Hints(home: home.folder)
        let log = Log(level: level, environment: environment, edit: hints.complete)
        return CommandContext(
            home: home, environment: environment, currentFolder: currentFolder,
            terminal: Terminal(of: .output, environment: environment), log: log, isQuiet: isQuiet,
            executable: ProcessArguments.executable, keys: Wiring.keys,
            agent: Wiring.agent(home, environment, log))
    }

    /// Prints why it did not work; the exit code that goes with it.
    private static func report(_ error: any Error, _ hints: Hints) -> ExitCode {
        if let error = error as? ConfigurationError {
            // As compilers do: each line begins with file, line and column.
            return end(.configuration, error.problems.map { $0.description(in: error.file) })
        }
        let failure =
            switch error {
            case let error as CommandError: error
            case let error as ConfigurationWriter.NotText:
                CommandError(.usage, error.description)
            default: CommandError(.failed, "\(error)")
            }
        return end(failure.code, ["chute: " + Log.escaped(hints.complete(failure.message))])
    }

    private static func end(_ code: ExitCode, _ lines: [String]) -> ExitCode {
        do {
            for line in lines { try StandardStream.error.writeLine(line) }
        } catch {
            return code  // nobody is left to tell; the exit code still says it
        }
        return code
    }
}
