import ChuteSystem
import DropFolder

/// `chute init`: configuration, folders and device key. Never binds or resolves an address.
struct InitCommand: Command {
    static let specification = CommandSpecification(
        name: "init", summary: "makes configuration, folders and device key",
        options: [
            .init(
                "--name", value: "N", "how this device calls itself; the host's name unless given"),
            .init("--inbox", value: "D", "what is dropped here is shared"),
            .init("--outbox", value: "D", "what peers share comes out here"),
            .init("--listen", value: "A:P", "address and port for peers, such as [::]:4040"),
            .init("--connect", value: "A:P,...", "peers to dial, separated by commas"),
            .init("--shared-key", value: "FILE", "the key of the space; made where it is missing"),
            .init("--layout", value: "T", "where files go in the outbox, such as {peer}/{path}"),
            .init("--existing", value: "share|skip", "what becomes of what lies in the inbox now"),
            .init("--new-device", "a new key for a home that was copied from another device"),
        ],
        examples: [
            .init("chute init", "~/Pics/inbox and ~/Pics/outbox, the host's name"),
            .init("chute init --inbox ~/Camera --existing skip", "shares later drops only"),
            .init("chute --home /srv/pics init --name studio", "everything in one folder"),
            .init("chute init --shared-key ~/space.key", "a space of all who hold the key file"),
        ],
        command: InitCommand.self)

    private let name: String?
    private let inbox: BytePath?
    private let outbox: BytePath?
    private let listen: String?
    private let connect: [String]?
    private let sharedKey: BytePath?
    private let layout: String?
    private let skipsExisting: Bool
    private let makesNewDevice: Bool

    init(_ arguments: ParsedArguments) throws {
        name = try arguments.text("--name")
        if let name, !ConfigurationReader.isDeviceName(name) {
            throw CommandError.usage(
                "--name \"\(name)\" is no device name, \(ConfigurationReader.deviceNameRule)")
        }
        inbox = try Self.path("--inbox", arguments)
        outbox = try Self.path("--outbox", arguments)
        sharedKey = try Self.path("--shared-key", arguments)
        listen = try arguments.text("--listen").map {
            $0.isEmpty ? "" : try Self.endpoint($0, "--listen")
        }
        connect = try arguments.text("--connect").map { list in
            try list.split(separator: ",").map { try Self.endpoint(String($0), "--connect") }
        }
        layout = try arguments.text("--layout")
        do {
            if let layout { _ = try OutboxLayout(layout) }
        } catch {
            throw CommandError.usage("--layout: \(error.description)")
        }
        switch try arguments.text("--existing") {
        case nil, "share": skipsExisting = false
        case "skip": skipsExisting = true
        case .some(let word):
            throw CommandError.usage("--existing is \"\(word)\", expected share or skip")
        }
        makesNewDevice = arguments.has("--new-device")
    }

    private static func path(_ option: String, _ arguments: ParsedArguments) throws -> BytePath? {
        guard let path = arguments.bytes(option) else { return nil }
        if path.isEmpty { throw CommandError.usage("\(option) is empty, expected a path") }
        return path
    }

    private static func endpoint(_ text: String, _ option: String) throws -> String {
        let trimmed = text.drop { $0 == " " }
        if let endpoint = SocketAddress(String(trimmed)),
            endpoint.port > 0 || option == "--listen"
        {
            return endpoint.description
        }
        throw CommandError.usage(
            "\(option) \"\(text)\" is no address, expected host:port or [address]:port")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        var setup = Setup(context: context)
        setup.values.name = name
        setup.values.inbox = inbox?.absolute(from: context.currentFolder)
        setup.values.outbox = outbox?.absolute(from: context.currentFolder)
        setup.values.sharedKey = sharedKey?.absolute(from: context.currentFolder)
        setup.values.layout = layout
        setup.values.listen = listen
        setup.values.connect = connect
        let outcome = try setup.run()
        if case .alreadyThere = outcome, makesNewDevice {
            let id = try context.keys.replace(context.home)
            try context.say("this home is a new device: \(id)")
        }
        if skipsExisting {
            let existing = try await context.agent.leaveOutExisting()
            try context.say(
                "\(existing.count) files, \(ByteCount.text(existing.byteCount)) in the inbox are "
                    + "left out; later drops are shared")
        }
        try SetupText.say(outcome, context)
        return .success
    }
}
