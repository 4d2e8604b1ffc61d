import ChuteSystem
import DropFolder

/// `chute retract`: takes shared files back.
struct RetractCommand: Command {
    static let specification = CommandSpecification(
        name: "retract", summary: "takes shared files back from those who do not have them yet",
        operands: [.init(name: "ID-OR-PATH")],
        examples: [
            .init("chute retract ~/Pics/inbox/oops.jpg", "says which peers have it already"),
            .init("chute retract ~/Pics/inbox/day1", "all that was shared from that folder"),
            .init("chute retract 5f3a9c0d", "by the id that `chute list` shows"),
        ],
        command: RetractCommand.self)

    private let given: BytePath

    init(_ arguments: ParsedArguments) { given = arguments.operands[0] }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let target = Target(
            given, from: context.currentFolder, in: try context.requiredConfiguration().folders)
        switch target {
        case .outbox(let path):
            throw CommandError(
                .failed,
                "\(path) lies in an outbox: others shared it, and only they retract it; to be rid "
                    + "of it here, delete it")
        case .whole(let path):
            throw CommandError(
                .failed, "\(path) is all that there is: name a file or a folder below an inbox")
        case .inbox, .other: break
        }
        switch try await context.agent.retract(target.path) {
        case .retracted(let name, let count, let had, let delivered):
            try context.say(Self.words(name, count, had, delivered))
            return .success
        case .unknown:
            throw CommandError(.failed, "nothing is shared as \(given): see `chute list`")
        case .notOwn(let origin):
            throw CommandError(
                .failed,
                "\(given) was shared by \(Log.escaped(origin)): only there it is retracted")
        }
    }

    static func words(
        _ name: BytePath, _ count: Int, _ had: Int, _ delivered: [String]
    ) -> String {
        let peers = delivered.map(Log.escaped).joined(separator: ", ")
        let have = delivered.count == 1 ? "has" : "have"
        if count == 0 {
            return "\(name) is retracted already; who had it by then may keep it"
        }
        if count == 1 {
            return delivered.isEmpty
                ? "\(name) is retracted; no peer has it"
                : "\(name) is retracted; \(peers) \(have) it already and may keep it"
        }
        return delivered.isEmpty
            ? "\(count) files below \(name) are retracted; no peer has any of them"
            : "\(count) files below \(name) are retracted; of \(had) of them \(peers) \(have) a copy "
                + "already and may keep it"
    }
}
