import ChuteSystem
import DropFolder
import Glibc

/// `chute service`: the agent as a systemd user service.
struct ServiceCommand {
    static let specification = CommandSpecification(
        name: "service", summary: "runs the agent always, started by systemd",
        examples: [
            .init("chute service install", "installs, enables and starts it"),
            .init("chute service remove", "stops and removes it; files and state stay"),
        ],
        subcommands: [
            ServiceInstallCommand.specification, ServiceRemoveCommand.specification,
            ServiceStatusCommand.specification,
        ])
}

/// `chute service install`.
struct ServiceInstallCommand: Command {
    static let specification = CommandSpecification(
        name: "install", summary: "installs and starts the service; again after adding folders",
        examples: [.init("chute service install", "sets up first where nothing is")],
        command: ServiceInstallCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let manager = try ServiceManager(environment: context.environment)
        let outcome = try Setup(context: context).run()
        let configuration =
            switch outcome {
            case .made(let configuration, _): configuration
            case .alreadyThere(let configuration): configuration
            }
        if case .made = outcome { try SetupText.say(outcome, context) }
        let unit = ServiceUnit(
            executable: context.executable, home: context.home, configuration: configuration,
            environment: context.environment)
        for folder in configuration.folders {
            guard case .move(let target) = folder.afterIngest else { continue }
            // The unit lets the agent write only to what exists when it starts.
            do throws(SystemError) { try NewFile.makeFolders(target) } catch {
                try context.say("after_ingest_folder \(target) could not be made: \(error)")
            }
        }
        let file = try ServiceManager.unitFile(context.environment)
        try write(unit, to: file)
        try manager.control("daemon-reload")
        try manager.control("enable", ServiceManager.unit)
        try manager.control("restart", ServiceManager.unit)
        try context.say("the service runs; its unit is \(file)")
        try sayLinger(context)
        return .success
    }

    private func write(_ unit: ServiceUnit, to file: BytePath) throws {
        let text = try unit.text()
        if let existing = try Self.text(of: file),
            !existing.split(separator: "\n").contains(Substring(try unit.marker()))
        {
            throw CommandError(
                .exists,
                "\(file) is a service for another home already: remove it there first "
                    + "(chute service remove)")
        }
        try NewFile.makeFolders(file.parent)
        try NewFile.replace(file, with: Array(text.utf8), mode: 0o644)
    }

    private static func text(of file: BytePath) throws -> String? {
        do {
            return String(decoding: try bytes(of: file), as: UTF8.self)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    private static func bytes(of file: BytePath) throws(SystemError) -> [UInt8] {
        let descriptor = try FileDescriptor.open(file, O_RDONLY)
        return try descriptor.read(count: 64 << 10, at: 0)
    }

    /// A user's services end when the user logs out, unless the user lingers.
    private func sayLinger(_ context: CommandContext) throws {
        guard let user = ProcessEnvironment.userName else { return }
        let mark = BytePath("/var/lib/systemd/linger").appending(user)
        if mark.withCString({ access($0, F_OK) }) != 0 {
            try context.say("to run it while you are not logged in: loginctl enable-linger \(user)")
        }
    }
}

/// `chute service remove`.
struct ServiceRemoveCommand: Command {
    static let specification = CommandSpecification(
        name: "remove", summary: "stops and removes the service; files and state stay",
        examples: [.init("chute service remove", "`chute run` works as before")],
        command: ServiceRemoveCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let file = try ServiceManager.unitFile(context.environment)
        guard file.withCString({ access($0, F_OK) }) == 0 else {
            try context.say("no service is installed")
            return .success
        }
        let manager = try ServiceManager(environment: context.environment)
        try manager.control("disable", "--now", ServiceManager.unit)
        try Folder(at: file.parent).remove(file.lastComponent)
        try manager.control("daemon-reload")
        try context.say("the service is removed; files and state stay")
        return .success
    }
}

/// `chute service status`.
struct ServiceStatusCommand: Command {
    static let specification = CommandSpecification(
        name: "status", summary: "says whether the service is installed and runs",
        examples: [.init("chute service status", "ends with 3 where it does not run")],
        command: ServiceStatusCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        let file = try ServiceManager.unitFile(context.environment)
        guard file.withCString({ access($0, F_OK) }) == 0 else {
            try context.show("not installed: run `chute service install`\n")
            return .notRunning
        }
        let activity = try ServiceManager(environment: context.environment).activity()
        try context.output.writeLine("installed, \(activity)")
        return activity == "active" ? .success : .notRunning
    }
}
