import ChuteSystem
import DropFolder

/// `chute leave`: forgets the space and its members, keeps every file.
struct LeaveCommand: Command {
    static let specification = CommandSpecification(
        name: "leave", summary: "leaves the space; every file stays",
        options: [
            .init("--force", "also as the only owner: nobody can invite or remove from then on")
        ],
        examples: [
            .init("chute leave", "afterwards this device can join another space"),
            .init(
                "chute peers role pi owner",
                "before that, where this is the only owner: it makes a member one, too"),
        ],
        command: LeaveCommand.self)

    private let isForced: Bool

    init(_ arguments: ParsedArguments) { isForced = arguments.has("--force") }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        let outcome = try await context.agent.leave(isForced: isForced)
        guard outcome.space != nil else {
            try context.say("this device is in no space: nothing to leave")
            return .success
        }
        try context.say("left the space; every file in inbox and outbox is kept")
        if outcome.members > 0 {
            // Only an owner's word takes a member out, and this device has left.
            try context.say(
                "the others list this device until an owner there takes it out by "
                    + "chute peers remove \(Hints.word(BytePath(outcome.name)))")
        }
        return .success
    }
}
