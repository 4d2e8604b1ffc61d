import ChuteSystem
import DropFolder

/// `chute retract`: takes a shared file back.
struct RetractCommand: Command {
    static let specification = CommandSpecification(
        name: "retract", summary: "takes a shared file back from those who do not have it yet",
        operands: [.init(name: "ID-OR-PATH")],
        examples: [
            .init("chute retract ~/Pics/inbox/oops.jpg", "says which peers have it already"),
            .init("chute retract 5f3a9c0d", "by the id that `chute list` shows"),
        ],
        command: RetractCommand.self)

    private let target: BytePath

    init(_ arguments: ParsedArguments) { target = arguments.operands[0] }

    func run(_ context: CommandContext) async throws -> ExitCode {
        _ = try context.requiredConfiguration()
        switch try await context.agent.retract(target) {
        case .retracted(let name, let delivered):
            let peers = delivered.map(Log.escaped).joined(separator: ", ")
            try context.say(
                delivered.isEmpty
                    ? "\(name) is retracted; no peer has it"
                    : "\(name) is retracted; \(peers) \(delivered.count == 1 ? "has" : "have") it "
                        + "already and may keep it")
            return .success
        case .unknown:
            throw CommandError(.failed, "nothing is shared as \(target): see `chute list`")
        case .notOwn(let origin):
            throw CommandError(
                .failed,
                "\(target) was shared by \(Log.escaped(origin)): only there it is retracted")
        }
    }
}
