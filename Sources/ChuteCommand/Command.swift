/// One command of the program.
protocol Command: Sendable {
    static var specification: CommandSpecification { get }

    /// Takes the parsed arguments; throws a usage error where a value is not what it should be.
    init(_ arguments: ParsedArguments) throws

    /// Does it. The error that it throws is printed by whoever called it.
    func run(_ context: CommandContext) async throws -> ExitCode
}
