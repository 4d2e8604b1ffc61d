import DropFolder

/// `chute leave`: forgets the space and its members, keeps every file.
struct LeaveCommand: Command {
    static let specification = CommandSpecification(
        name: "leave", summary: "leaves the space; every file stays",
        examples: [.init("chute leave", "afterwards this device can join another space")],
        command: LeaveCommand.self)

    init(_ arguments: ParsedArguments) {}

    func run(_ context: CommandContext) async throws -> ExitCode {
        _ = try context.requiredConfiguration()
        let outcome = try await context.agent.leave()
        if outcome.space == nil {
            try context.say("this device is in no space: nothing to leave")
        } else {
            try context.say("left the space; every file in inbox and outbox is kept")
        }
        return .success
    }
}
