import ChuteKit
import ExampleTerminal
import Glibc

/// A shared album in a terminal: what one program adds comes out of all others.
///
///     PicsCLI one --listen 127.0.0.1:4041
///     PicsCLI two --connect 127.0.0.1:4041
///
/// Type `add lake.jpg` in one of them. The pictures of others are written to `<folder>/received`.
guard CommandLine.arguments.count > 1, !CommandLine.arguments[1].hasPrefix("-") else {
    say("usage: PicsCLI <folder> [--listen host:port] [--connect host:port]")
    exit(64)
}
let folder = BytePath(CommandLine.arguments[1])
mkdir(CommandLine.arguments[1], 0o755)

do {
    let chute = try await Chute.open(
        identity: .development(appName: "pics"), persistenceDirectory: folder.appending("store"),
        network: .init(
            listen: option("listen"), connect: option("connect").map { [$0] } ?? []))
    let album = Album(pics: chute.store["pics"], received: folder.appending("received"))
    try await chute.startSync()
    if case .running(let address?)? = await chute.transportStates["tcp"] {
        say("listening at \(address)")
    }

    await withTaskGroup(of: Void.self) { group in
        group.addTask { await album.watch() }
        for await line in typedLines() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            if words.first == "quit" { break }
            switch (words.first, words.last) {
            case ("add", let path?) where words.count == 2: await album.add(path)
            case ("list", _): await album.list()
            case (nil, _): break
            default: say("add <file>, list or quit")
            }
        }
        group.cancelAll()
    }
    try await chute.close()
} catch {
    say("\(error)")
    exit(1)
}
