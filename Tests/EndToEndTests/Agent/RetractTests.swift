import ChuteSystem
import TestSupport
import Testing

/// Taking back and bringing back, by the paths that people type.
@Suite(.timeLimit(.minutes(3)))
struct RetractTests {
    /// Runs `chute` of a home as if typed in `folder`.
    private func chute(
        _ home: AgentHome, in folder: BytePath, _ words: BytePath...
    ) async throws -> RunningProgram.Finished {
        try await home.start(
            program: "/bin/sh",
            ["-c", "cd \"$1\" && shift && exec \"$@\"", "sh", folder, home.executable] + words
        ).finished()
    }

    @Test func `a folder was no target, and a relative path was not found`() async throws {
        var random = SeededGenerator(seed: 91)
        let names: [BytePath] = ["day 1/a.jpg", "day 1/more/b.jpg", "day 10.jpg", "c.jpg", "d.jpg"]
        let photos = names.map { _ in SampleFiles.photo(30_000, using: &random) }
        try await AgentPair.running { pair in
            let (laptop, pi) = (pair.laptop, pair.pi)
            for (name, photo) in zip(names, photos) { try laptop.drop(photo, as: name) }
            try await laptop.awaitReceipts(names.count)
            func live() async throws -> Int { try await laptop.status().folder?.shared ?? -1 }

            // By the path from where it is typed.
            let one = try await chute(laptop, in: laptop.inbox, "retract", "c.jpg")
            #expect(one.output == "c.jpg is retracted; pi has it already and may keep it\n")
            #expect(one.exitCode == 0, "\(one.error)")
            #expect(try await live() == 4)
            // A second time nothing is said of who has it: that was said.
            let again = try await chute(laptop, in: laptop.inbox, "retract", "c.jpg")
            #expect(
                again.output.hasSuffix(
                    "c.jpg is retracted already; who had it by then may keep it\n"))
            #expect(again.exitCode == 0)

            let folder = try await chute(
                laptop, in: laptop.inbox.appending("day 1/more"), "retract", "../../day 1")
            #expect(folder.exitCode == 0, "\(folder.error)")
            #expect(folder.output.hasPrefix("2 files below "))
            #expect(folder.output.contains("of 2 of them pi has a copy already"))
            #expect(try await live() == 2)
            #expect(try FolderTree.paths(below: laptop.inbox).count == names.count)

            // By its id, as the list shows it, and one digit more.
            let list = try await laptop.chute("list")
            let lines = list.output.split(separator: "\n")
            let line = try #require(lines.first { $0.contains("d.jpg") })
            let short = try #require(line.split(separator: " ").first)
            #expect(short.count == 8)
            let documents = try await laptop.list().documents
            let id = try #require(documents.first { $0.name == "d.jpg" }?.id)
            #expect(id.hasPrefix(short))
            let byID = try await laptop.chute("retract", BytePath(String(id.prefix(9))))
            #expect(byID.output.hasPrefix("d.jpg is retracted"), "\(byID.error)")

            for path in [laptop.inbox.appending("no.jpg"), "/etc/passwd", "day", "00000000"] {
                let none = try await laptop.chute("retract", path)
                #expect(none.exitCode == 1)
                #expect(none.error.contains("nothing is shared as"), "\(none.error)")
            }
            let all = try await chute(laptop, in: laptop.inbox, "retract", ".")
            #expect(all.exitCode == 1)
            #expect(try await live() == 1)

            let outbox = try await chute(pi, in: pi.outbox, "retract", "laptop/day 10.jpg")
            #expect(outbox.exitCode == 1)
            #expect(outbox.error.contains("lies in an outbox"))
        }
    }

    @Test func `a file that is gone comes again, named from where it was`() async throws {
        var random = SeededGenerator(seed: 92)
        let photos = (0..<2).map { _ in SampleFiles.photo(30_000, using: &random) }
        try await AgentPair.with { pair in
            let (laptop, pi) = (pair.laptop, pair.pi)
            let expected = FolderTree(files: [
                "laptop/day/a.jpg": .init(photos[0]), "laptop/day/b.jpg": .init(photos[1]),
            ])
            try await withAgents(laptop) { _ in
                try await withAgents(pi) { _ in
                    try laptop.drop(photos[0], as: "day/a.jpg")
                    try laptop.drop(photos[1], as: "day/b.jpg")
                    try await pi.awaitOutbox(expected)
                    try await laptop.awaitReceipts(2)
                }
                // What went while no agent ran is found at the next start.
                let folder = try Folder(at: pi.outbox.appending("laptop/day"))
                for name in ["a.jpg", "b.jpg"] as [BytePath] { try folder.remove(name) }
                try await withAgents(pi) { _ in
                    try await eventually(within: .seconds(60), "the removals are seen") {
                        try await pi.list().documents.filter { $0.state == "removed" }.count == 2
                    }
                    let inbox = try await pi.chute("redeliver", pi.inbox.appending("a.jpg"))
                    #expect(inbox.exitCode == 1)
                    #expect(inbox.error.contains("lies in an inbox"))
                    let one = try await chute(
                        pi, in: pi.outbox.appending("laptop"), "redeliver", "day/a.jpg")
                    #expect(one.output == "day/a.jpg comes again\n", "\(one.error)")
                    let rest = try await chute(
                        pi, in: pi.outbox.appending("laptop/day"), "redeliver", ".")
                    #expect(rest.exitCode == 0, "\(rest.error)")
                    try await pi.awaitOutbox(expected)
                }
            }
        }
    }
}
