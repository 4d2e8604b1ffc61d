import ChuteSystem
import DropFolder

/// `chute peers`: who is in the space.
struct PeersCommand: Command {
    static let specification = CommandSpecification(
        name: "peers", summary: "lists the members of the space",
        options: [.init("--json", "as JSON")],
        examples: [
            .init("chute peers", "role, connected by what address, last seen"),
            .init("chute peers remove pi", "takes pi out; its files here stay"),
            .init("chute peers role pi owner", "it may invite and remove others, too"),
        ],
        subcommands: [PeerRemoveCommand.specification, PeerRoleCommand.specification],
        command: PeersCommand.self)

    private let isJSON: Bool

    init(_ arguments: ParsedArguments) { isJSON = arguments.has("--json") }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        let peers = try await context.agent.peers()
        if isJSON {
            try context.output.writeLine(JSONValue.array(peers.map(\.json)).text)
        } else if peers.isEmpty {
            try context.say("no peers yet: run `chute invite`")
        } else {
            try context.output.write(PeersText.text(peers, now: .now, showsIDs: true))
        }
        return .success
    }
}

/// `chute peers remove`: takes a member out.
struct PeerRemoveCommand: Command {
    static let specification = CommandSpecification(
        name: "remove", summary: "takes a member out of the space, at once",
        operands: [.init(name: "NAME-OR-ID")],
        examples: [.init("chute peers remove pi", "what it shared so far stays")],
        command: PeerRemoveCommand.self)

    private let peer: String

    init(_ arguments: ParsedArguments) throws { peer = try arguments.text(at: 0) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        let (name, id) = try await context.agent.removePeer(peer).done(
            for: peer,
            withKey: "nobody is removed from a shared-key space: make a new key with "
                + "chute init --shared-key FILE in a new home and copy it to those who stay",
            toOwners: "only an owner of the space removes members: ask one")
        try context.say(Log.escaped("\(name) (\(id)) is removed"))
        return .success
    }
}

/// `chute peers role`: gives a member another role.
struct PeerRoleCommand: Command {
    static let specification = CommandSpecification(
        name: "role", summary: "makes a member an owner, a member, or one that only sends",
        operands: [.init(name: "NAME-OR-ID"), .init(name: "ROLE")],
        examples: [
            .init("chute peers role pi owner", "it may invite and remove others from now on"),
            .init("chute peers role pi sender", "it hears of nobody else from now on"),
        ],
        command: PeerRoleCommand.self)

    private let peer: String
    private let role: InviteCommand.Role

    init(_ arguments: ParsedArguments) throws {
        peer = try arguments.text(at: 0)
        role = try InviteCommand.Role(word: try arguments.text(at: 1), of: "ROLE")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await context.checkIsSetUp()
        let (name, id) = try await context.agent.setRole(role, of: peer).done(
            for: peer, withKey: "in a shared-key space all are alike: it has no roles",
            toOwners: "only an owner of the space changes roles, and none gives up its own: ask "
                + "another")
        try context.say(Log.escaped("\(name) (\(id)) has the role \(role.rawValue) now"))
        return .success
    }
}

extension MemberOutcome {
    /// The member that it was done about; otherwise throws what to tell the user.
    fileprivate func done(
        for peer: String, withKey: String, toOwners: String
    ) throws -> (name: String, id: String) {
        switch self {
        case .done(let name, let id): return (name, id)
        case .unknown:
            throw CommandError(.failed, "no member is called \(peer): see `chute peers`")
        case .ambiguous(let ids):
            throw CommandError(
                .failed,
                "\(ids.count) members are called \(peer): give one of the ids "
                    + ids.joined(separator: ", "))
        case .sharedKeySpace: throw CommandError(.failed, withKey)
        case .notOwner: throw CommandError(.failed, toOwners)
        }
    }
}
