import ChuteSystem
import DropFolder

/// `chute redeliver`: brings back what was moved or deleted from the outbox.
struct RedeliverCommand: Command {
    static let specification = CommandSpecification(
        name: "redeliver", summary: "brings back what is gone from the outbox",
        operands: [.init(name: "ID-OR-PATH")],
        examples: [
            .init("chute redeliver ~/Pics/outbox/pi/cat.jpg", "the file that was there"),
            .init("chute redeliver 5f3a9c0d", "by the id that `chute list` shows"),
        ],
        command: RedeliverCommand.self)

    private let target: BytePath

    init(_ arguments: ParsedArguments) { target = arguments.operands[0] }

    func run(_ context: CommandContext) async throws -> ExitCode {
        _ = try context.requiredConfiguration()
        let count = try await context.agent.redeliver(target)
        guard count > 0 else {
            throw CommandError(
                .failed, "nothing was delivered as \(target): see `chute list`")
        }
        try context.say(count == 1 ? "\(target) comes again" : "\(count) files come again")
        return .success
    }
}
