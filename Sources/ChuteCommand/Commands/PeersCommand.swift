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
        ],
        subcommands: [PeerRemoveCommand.specification], command: PeersCommand.self)

    private let isJSON: Bool

    init(_ arguments: ParsedArguments) { isJSON = arguments.has("--json") }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try context.checkIsSetUp()
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
        try context.checkIsSetUp()
        switch try await context.agent.removePeer(peer) {
        case .removed(let name, let id):
            try context.say(Log.escaped("\(name) (\(id)) is removed"))
            return .success
        case .unknown:
            throw CommandError(.failed, "no member is called \(peer): see `chute peers`")
        case .ambiguous(let ids):
            throw CommandError(
                .failed,
                "\(ids.count) members are called \(peer): give one of the ids "
                    + ids.joined(separator: ", "))
        case .sharedKeySpace:
            throw CommandError(
                .failed,
                "nobody is removed from a shared-key space: make a new key with "
                    + "chute init --shared-key FILE in a new home and copy it to those who stay")
        case .notOwner:
            throw CommandError(.failed, "only an owner of the space removes members: ask one")
        }
    }
}
