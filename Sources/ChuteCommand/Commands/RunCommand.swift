import ChuteSystem
import DropFolder

/// `chute run`: the agent in the foreground.
struct RunCommand: Command {
    static let specification = CommandSpecification(
        name: "run", summary: "runs the agent here until it is stopped",
        options: [
            .init("--moved", "this home was moved here from elsewhere, and is not a copy")
        ],
        examples: [
            .init("chute run", "sets up first where nothing is; Ctrl-C stops it"),
            .init("chute service install", "runs it always instead, started by systemd"),
        ],
        command: RunCommand.self)

    private let isMoved: Bool

    init(_ arguments: ParsedArguments) { isMoved = arguments.has("--moved") }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let outcome = try Setup(context: context).run()
        if case .made = outcome { try SetupText.say(outcome, context) }
        return try await context.agent.run(moved: isMoved)
    }
}
