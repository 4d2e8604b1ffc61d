import ChuteSystem
import DropFolder

/// `chute config`: where the configuration is, whether it is right, what is in effect.
struct ConfigCommand {
    static let specification = CommandSpecification(
        name: "config", summary: "checks and shows the configuration",
        examples: [
            .init("chute config check", "says file, line, column and what was expected"),
            .init("$EDITOR \"$(chute config path)\"", "edits it"),
        ],
        subcommands: [
            ConfigCheckCommand.specification, ConfigPathCommand.specification,
            ConfigShowCommand.specification,
        ])
}

/// `chute config check`.
struct ConfigCheckCommand: Command {
    static let specification = CommandSpecification(
        name: "check", summary: "says where the configuration is wrong",
        examples: [.init("chute config check", "ends with 78 where it is wrong")],
        command: ConfigCheckCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let configuration = try context.requiredConfiguration()
        let file = context.home.configurationFile
        let found = try ConfigurationProbe.look(at: context.home)
        guard found.problems.isEmpty else {
            throw ConfigurationError(file: file, problems: found.problems)
        }
        if configuration.device.sharedKey == nil, !configuration.device.isPairedOnPurpose,
            try await context.agent.hasSharedKey()
        {
            throw ConfigurationError.lostKey(of: context.home)
        }
        for notice in configuration.notices + found.notices {
            try context.errors.writeLine(notice.description(in: file))
        }
        try context.say("\(file) is right")
        return .success
    }
}

/// `chute config path`.
struct ConfigPathCommand: Command {
    static let specification = CommandSpecification(
        name: "path", summary: "prints where the configuration is",
        examples: [.init("chute config path", "the path, whether or not the file exists")],
        command: ConfigPathCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        try context.output.write(context.home.configurationFile.bytes + [UInt8(ascii: "\n")])
        return .success
    }
}

/// `chute config show`.
struct ConfigShowCommand: Command {
    static let specification = CommandSpecification(
        name: "show", summary: "prints everything that is in effect",
        examples: [.init("chute config show", "as TOML, defaults included")],
        command: ConfigShowCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let configuration = try context.requiredConfiguration()
        for notice in configuration.notices {
            try context.note(notice.description(in: context.home.configurationFile))
        }
        try context.output.write(ConfigurationWriter.effective(configuration))
        return .success
    }
}
