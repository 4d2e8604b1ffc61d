import DropFolder

/// `chute list`: the documents that this device knows.
struct ListCommand: Command {
    static let specification = CommandSpecification(
        name: "list", summary: "lists files: id, name, type, size, origin, state, receipts",
        options: [
            .init("--json", "as JSON, with all receipts"),
            .init("--skipped", "only what is not shared, and why"),
        ],
        examples: [
            .init("chute list", "one line for each file"),
            .init("chute list --skipped", "names and reasons"),
        ],
        command: ListCommand.self)

    private let isJSON: Bool
    private let onlySkipped: Bool

    init(_ arguments: ParsedArguments) {
        isJSON = arguments.has("--json")
        onlySkipped = arguments.has("--skipped")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        let list = try await context.agent.documents(onlySkipped: onlySkipped)
        if isJSON {
            try context.output.writeLine(list.json.text)
        } else {
            try context.show(ListText.text(list, onlySkipped: onlySkipped))
        }
        return .success
    }
}
