import ChuteSystem
import DropFolder

/// `chute redeliver`: brings back what was moved or deleted from the outbox.
struct RedeliverCommand: Command {
    static let specification = CommandSpecification(
        name: "redeliver", summary: "brings back what is gone from the outbox",
        operands: [.init(name: "ID-OR-PATH")],
        examples: [
            .init("chute redeliver ~/Pics/outbox/pi/cat.jpg", "the file that was there"),
            .init("chute redeliver ~/Pics/outbox/pi", "all that is gone from that folder"),
            .init("chute redeliver 5f3a9c0d", "by the id that `chute list` shows"),
        ],
        command: RedeliverCommand.self)

    private let given: BytePath

    init(_ arguments: ParsedArguments) { given = arguments.operands[0] }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let target = Target(
            given, from: context.currentFolder, in: try context.requiredConfiguration().folders)
        if case .inbox(let path) = target {
            throw CommandError(
                .failed,
                "\(path) lies in an inbox: what others shared is brought back, to the outbox")
        }
        let count = try await context.agent.redeliver(target.path)
        guard count > 0 else {
            throw CommandError(
                .failed, "nothing delivered as \(given) is gone or was changed: see `chute list`")
        }
        try context.say(count == 1 ? "\(given) comes again" : "\(count) files come again")
        return .success
    }
}
