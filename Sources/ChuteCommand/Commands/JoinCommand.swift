import ChuteKit
import ChuteSystem
import DropFolder

/// `chute join`: becomes a member by a ticket.
struct JoinCommand: Command {
    static let specification = CommandSpecification(
        name: "join", summary: "becomes a member by a ticket of another device",
        operands: [.init(name: "TICKET|-")],
        examples: [
            .init("chute join chute1:...", "the ticket that `chute invite` shows there"),
            .init("chute join -", "reads the ticket from standard input"),
        ],
        command: JoinCommand.self)

    private let given: BytePath

    init(_ arguments: ParsedArguments) { given = arguments.operands[0] }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let line: String
        if given == "-" {
            guard let read = readLine() else {
                throw CommandError.usage("no ticket came from standard input")
            }
            line = read
        } else {
            ProcessArguments.erase(given)
            line = given.string ?? ""
        }
        let ticket = line.filter { !$0.isWhitespace }
        // A slip of the hand sets nothing up. Whether it is still good, its maker says.
        guard Ticket(ticket) != nil else { throw Self.error(.notATicket) }
        let outcome = try Setup(context: context).run()
        if case .made = outcome { try SetupText.say(outcome, context) }
        do {
            let joined = try await context.agent.join(ticket: ticket)
            let inviter = Log.escaped(joined.inviter)
            if let refusal = joined.refusal { throw Self.error(notTaken: refusal, by: inviter) }
            try context.say(
                joined.isPromoted
                    ? "an owner of the space of \(inviter) now"
                    : joined.wasMemberAlready
                        ? "already a member of the space of \(inviter)"
                        : "joined the space of \(inviter)")
            if try await !context.agent.isRunning() {
                try context.say("next: `chute run`, or `chute service install` to have it always")
            }
            return .success
        } catch let failure as JoinFailure {
            throw Self.error(failure)
        }
    }

    /// What a member hears whose ticket would have made more of it, or may have.
    private static func error(notTaken refusal: JoinFailure, by inviter: String) -> CommandError {
        let failure = error(refusal)
        let itself = "the ticket "
        let why =
            failure.message.hasPrefix(itself)
            ? "it " + failure.message.dropFirst(itself.count) : failure.message
        return CommandError(
            failure.code,
            "already a member of the space of \(inviter); the ticket was not taken: \(why)")
    }

    /// The sentence and exit code for each reason.
    static func error(_ failure: JoinFailure) -> CommandError {
        let again = "ask for a new one (chute invite)"
        return switch failure {
        case .notATicket:
            CommandError(
                .failed,
                "this is no ticket: expected chute1:... as chute invite shows it there")
        case .expired: CommandError(.failed, "the ticket has expired: \(again)")
        case .usedUp: CommandError(.failed, "the ticket is used up: \(again)")
        case .revoked: CommandError(.failed, "the ticket was revoked: \(again)")
        case .wrongDevice(let address):
            CommandError(
                .failed,
                "another device than the ticket's answers at \(address): \(again) there")
        case .unreachable(let addresses):
            CommandError(
                .unavailable,
                "the inviting device cannot be reached (tried "
                    + (addresses.isEmpty ? "no address" : addresses.joined(separator: ", "))
                    + "): check that chute invite or chute run is open there "
                    + "and that both are on one network")
        case .other(let why): CommandError(.failed, why)
        case .inSpaceWithOthers(let members):
            CommandError(
                .failed,
                "this device is in a space with \(members) other"
                    + "\(members == 1 ? "" : "s") already: run `chute leave` first, "
                    + "which keeps all files")
        case .sharedKeySpace:
            CommandError(
                .failed,
                "this device is in a shared-key space, which has no tickets: "
                    + "copy the key file instead, or give another --home")
        }
    }
}
