import ChuteKit
import ExampleTerminal
import Glibc

/// A chat in a terminal: users with an avatar, messages with pictures.
///
///     ChatCLI one --name Ada --listen 127.0.0.1:4042
///     ChatCLI two --name Ben --connect 127.0.0.1:4042
///
/// Type a message, or `/avatar <file>`, `/picture <file>`, `/quit`. A picture's thumbnail comes
/// with its message, the picture itself afterwards.
guard CommandLine.arguments.count > 1, !CommandLine.arguments[1].hasPrefix("-"),
    let name = option("name")
else {
    say("usage: ChatCLI <folder> --name <name> [--listen host:port] [--connect host:port]")
    exit(64)
}
let folder = BytePath(CommandLine.arguments[1])
mkdir(CommandLine.arguments[1], 0o755)

do {
    let chute = try await Chute.open(
        identity: .development(appName: "chat"), persistenceDirectory: folder.appending("store"),
        network: .init(
            listen: option("listen"), connect: option("connect").map { [$0] } ?? []))
    let chat = Chat(
        me: chute.device.short, users: chute.store["users"], messages: chute.store["messages"],
        received: folder.appending("received"))
    try await chat.introduce(name)
    try await chute.startSync()
    if case .running(let address?)? = await chute.transportStates["tcp"] {
        say("listening at \(address)")
    }

    await withTaskGroup(of: Void.self) { group in
        group.addTask { await chat.watchUsers() }
        group.addTask { await chat.watchMessages() }
        for await line in typedLines() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            if words.first == "/quit" { break }
            switch words.first {
            case "/avatar" where words.count == 2: await chat.setAvatar(words[1])
            case "/picture" where words.count == 2: await chat.send(picture: words[1])
            case nil: break
            default: await chat.send(text: line)
            }
        }
        group.cancelAll()
    }
    try await chute.close()
} catch {
    say("\(error)")
    exit(1)
}
