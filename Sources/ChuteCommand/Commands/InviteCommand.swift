import ChuteSystem
import DropFolder

/// `chute invite`: a ticket for another device, and who joined by it.
struct InviteCommand: Command {
    /// What a ticket makes of who uses it.
    enum Role: String, CaseIterable, Sendable { case owner, member, sender }

    static let specification = CommandSpecification(
        name: "invite", summary: "makes a ticket that lets another device join",
        options: [
            .init("--uses", value: "N", "how many devices may join by it; 1 unless given"),
            .init("--expires", value: "SPAN", "how long it is good; \"15 min\" unless given"),
            .init(
                "--role", value: "owner|member|sender",
                "what they become; member unless given. A sender's files go to owners, and of the "
                    + "others it learns nothing"),
            .init("--print", "print the ticket and nothing else, and end"),
            .init("--json", "print the ticket as JSON, and end"),
        ],
        examples: [
            .init("chute invite", "ticket and QR code; on a terminal it stays and says who joined"),
            .init("chute invite --uses 5 --expires \"2 days\"", "for five devices"),
            .init("chute invite --print | ssh pi chute join -", "without a ticket on the screen"),
            .init("chute invite list", "tickets that are still good"),
            .init("chute invite revoke 7K2M", "makes one worthless"),
        ],
        subcommands: [
            InvitationListCommand.specification, InvitationRevokeCommand.specification,
        ],
        command: InviteCommand.self)

    private enum Form { case screen, ticket, json }

    private let uses: Int
    private let expires: Duration
    private let role: Role
    private let form: Form

    init(_ arguments: ParsedArguments) throws {
        let count = try arguments.text("--uses") ?? "1"
        guard let uses = Int(count), (1...10_000).contains(uses) else {
            throw CommandError.usage("--uses is \"\(count)\", expected 1 to 10000")
        }
        let span = try arguments.text("--expires") ?? "15 min"
        guard let expires = TimeSpan.parse(span), expires > .zero else {
            throw CommandError.usage("--expires is \"\(span)\", expected \"15 min\" or \"2 days\"")
        }
        self.uses = uses
        self.expires = expires
        role = try Role(word: try arguments.text("--role") ?? "member", of: "--role")
        form = arguments.has("--json") ? .json : arguments.has("--print") ? .ticket : .screen
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        let invitation = try await context.agent.invite(role: role, uses: uses, expires: expires)
        let staysOpen = form == .screen && context.terminal.isTerminal
        switch form {
        case .json: try context.output.writeLine(invitation.json.text)
        case .ticket: try context.output.writeLine(invitation.ticket ?? "")
        case .screen:
            let text = InvitationText.text(
                invitation, expires: expires, terminal: context.terminal)
            try context.output.write(text)
        }
        if invitation.reachesOnlyThisNetwork {
            try context.note(InvitationText.privateAddressesWarning)
        }
        guard staysOpen else {
            if try await !context.agent.isRunning() {
                try context.note("no agent runs: the ticket works only while `chute run` does")
            } else if form == .screen {
                try context.note(
                    "this is no terminal, so nobody waits here for who joins: see `chute peers`")
            }
            return .success
        }
        for try await joined in try await context.agent.joins(of: invitation) {
            try context.output.writeLine(
                Log.escaped("\(joined.name) joined from \(joined.address)"))
            if joined.usesLeft == 0 { return .success }
        }
        try context.show("the ticket is no longer good: run `chute invite` for another\n")
        return .success
    }
}

extension InviteCommand.Role {
    /// What a user calls a role; throws what is expected. `name` is what it was given for.
    init(word: String, of name: String) throws {
        guard let role = Self(rawValue: word) else {
            throw CommandError.usage("\(name) is \"\(word)\", expected owner, member or sender")
        }
        self = role
    }
}
