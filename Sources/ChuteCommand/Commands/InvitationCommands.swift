import DropFolder

/// `chute invite list`: tickets that are still good.
struct InvitationListCommand: Command {
    static let specification = CommandSpecification(
        name: "list", summary: "lists tickets that are still good",
        options: [.init("--json", "as JSON")],
        examples: [.init("chute invite list", "id, role, uses left, until when")],
        command: InvitationListCommand.self)

    private let isJSON: Bool

    init(_ arguments: ParsedArguments) { isJSON = arguments.has("--json") }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        let invitations = try await context.agent.invitations()
        if isJSON {
            try context.output.writeLine(JSONValue.array(invitations.map(\.json)).text)
        } else if invitations.isEmpty {
            try context.say("no ticket is good: run `chute invite` for one")
        } else {
            try context.output.write(InvitationText.list(invitations))
        }
        return .success
    }
}

/// `chute invite revoke`: makes a ticket worthless.
struct InvitationRevokeCommand: Command {
    static let specification = CommandSpecification(
        name: "revoke", summary: "makes a ticket worthless",
        operands: [.init(name: "ID")],
        examples: [.init("chute invite revoke 7K2M", "by the id that `invite list` shows")],
        command: InvitationRevokeCommand.self)

    private let id: String

    init(_ arguments: ParsedArguments) throws { id = try arguments.text(at: 0) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        guard try await context.agent.revokeInvitation(id) else {
            throw CommandError(.failed, "no ticket has the id \(id): see `chute invite list`")
        }
        try context.say("ticket \(id) is revoked")
        return .success
    }
}
