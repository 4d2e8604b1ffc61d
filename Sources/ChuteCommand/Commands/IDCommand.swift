import DropFolder

/// `chute id`: the device id, nothing else.
struct IDCommand: Command {
    static let specification = CommandSpecification(
        name: "id", summary: "prints the id of this device",
        examples: [.init("chute id", "the id, nothing else")], command: IDCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        try context.output.writeLine(try context.keys.load(context.home.keyFile))
        return .success
    }
}
