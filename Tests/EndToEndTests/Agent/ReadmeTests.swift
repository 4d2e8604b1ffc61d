import ChuteSystem
import Glibc
import TestSupport
import Testing

/// The commands that the README tells people to type, by two users with empty homes on two hosts.
@Suite(.namespaces, .timeLimit(.minutes(3)))
struct ReadmeTests {
    /// A code block marked `sh test HOST`.
    private struct Block: CustomStringConvertible {
        let host: String
        let text: String

        var description: String { "\(host)$ \(text)" }
        /// Runs until it is stopped, in a terminal of its own.
        var stays: Bool { text.hasSuffix("chute run") }
    }

    private static func blocks() throws -> [Block] {
        var root = BytePath(#filePath)
        for _ in 0..<4 { root = root.parent }
        let file = try FileDescriptor.open(root.appending("README.md"), O_RDONLY)
        let text = String(decoding: try file.read(count: 1 << 20, at: 0), as: UTF8.self)
        var blocks: [Block] = []
        var host: String?
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```sh test ") {
                host = String(line.dropFirst("```sh test ".count))
                lines = []
            } else if line == "```", let known = host {
                blocks.append(Block(host: known, text: lines.joined(separator: "\n")))
                host = nil
            } else {
                lines.append(line)
            }
        }
        return blocks
    }

    @Test func `what the README says works as it is written`() async throws {
        var random = SeededGenerator(seed: 9)
        let photo = SampleFiles.photo(2_000_000, using: &random)
        let blocks = try Self.blocks()
        try #require(blocks.count >= 6)
        try await withAgentFolder { folder in
            try await NetworkNamespaces.with(2) { hosts in
                let laptop = try AgentHome("laptop", in: folder, network: hosts[0])
                let pi = try AgentHome("pi", in: folder, network: hosts[1])
                var running: [RunningProgram] = []
                do {
                    try await follow(blocks, laptop, pi, photo, &running)
                } catch {
                    for program in running { print(try program.errorSoFar()) }
                    try await stop(running)
                    throw error
                }
                try await stop(running)
            }
        }
    }

    private func follow(
        _ blocks: [Block], _ laptop: AgentHome, _ pi: AgentHome, _ photo: [UInt8],
        _ running: inout [RunningProgram]
    ) async throws {
        for home in [laptop, pi] {
            try Folder(at: home.path.parent).makeFolder(home.path.lastComponent)
            try home.user.own(home.path)
        }
        let pictures = laptop.path.parent.appending("pictures")
        try Folder(at: pictures.parent).makeFolder("pictures", mode: 0o755)
        try SampleFiles.write(photo, to: pictures.appending("photo.jpg"))

        var ticket = "chute1:..."
        for block in blocks {
            let home = try #require([laptop, pi].first { $0.name == block.host })
            let text = block.text.replacing("chute1:...", with: ticket)
            let program = try start(text, home, in: pictures)
            if block.stays {
                running.append(program)
                try await eventually(within: .seconds(30), "\(block)") {
                    try program.errorSoFar()
                } holds: {
                    try await start("chute status", home, in: pictures).finished().exitCode == 0
                }
                continue
            }
            let result = try await program.finished()
            try #require(result.exitCode == 0, "\(block): \(result.error)")
            let words = result.output.split { $0.isWhitespace }
            if let word = words.first(where: { $0.hasPrefix("chute1:") }) { ticket = String(word) }
        }
        let outbox = pi.path.appending("Pics/outbox")
        let name = try #require(
            try await eventuallyOnly(in: outbox), "nothing came out in \(outbox)")
        #expect(name.lastComponent == "photo.jpg")
        #expect(try FolderTree.Content(of: outbox.appending(name)) == .init(photo))
    }

    /// The one file of a folder, once there is one.
    private func eventuallyOnly(in folder: BytePath) async throws -> BytePath? {
        try await eventually("a file in \(folder)") {
            try !FolderTree.paths(below: folder).isEmpty
        }
        return try FolderTree.paths(below: folder).first
    }

    /// A terminal of the home's user: nothing set but what a login sets.
    private func start(_ text: String, _ home: AgentHome, in folder: BytePath) throws
        -> RunningProgram
    {
        let program = home.executable
        let environment = ProcessEnvironment([
            "HOME": home.path,
            "PATH": BytePath(bytes: program.parent.bytes + Array(":/usr/bin:/bin".utf8)),
        ])
        // `exec`, so that a signal reaches the last command and not a shell before it.
        let lines = text.split(separator: "\n")
        let script = lines.dropLast().map(String.init) + ["exec \(lines.last ?? "true")"]
        return try home.start(
            program: "/bin/sh",
            ["-ec", BytePath("cd \"$0\"; " + script.joined(separator: "\n")), folder],
            environment: environment)
    }

    private func stop(_ programs: [RunningProgram]) async throws {
        for program in programs {
            program.send(signal: SIGTERM)
            #expect(try await program.finished().exitCode == 0)
        }
    }
}
