import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Two agents that share a key: what is dropped at one comes out at the other.
@Suite(.timeLimit(.minutes(3)))
struct DeliveryTests {
    @Test func `a photo arrives as it is and the sender knows`() async throws {
        var random = SeededGenerator(seed: 1)
        let photo = SampleFiles.photo(3_000_000, using: &random)
        try await AgentPair.running { pair in
            try pair.laptop.drop(photo, as: "photo.jpg")
            let expected = FolderTree(files: ["laptop/photo.jpg": .init(photo)])
            try await pair.pi.awaitOutbox(expected)
            try await pair.laptop.awaitReceipts(1)
            #expect(try await pair.pi.status().folder?.delivered == 1)
            #expect(try FolderTree(of: pair.laptop.outbox).files.isEmpty)
        }
    }

    @Test func `a staging folder that somebody removed is made anew`() async throws {
        var random = SeededGenerator(seed: 10)
        let photos = (0..<2).map { _ in SampleFiles.photo(60_000, using: &random) }
        try await AgentPair.running { pair in
            try pair.laptop.drop(photos[0], as: "a.jpg")
            try await pair.laptop.awaitReceipts(1)
            let hidden = try Folder(at: pair.pi.outbox.appending(".chute"))
            try hidden.rename("staging", to: "tidied")
            try pair.laptop.drop(photos[1], as: "b.jpg")
            try await eventually(within: .seconds(90), "it comes all the same") {
                try FolderTree(of: pair.pi.outbox).files["laptop/b.jpg"] == .init(photos[1])
            }
        }
    }

    @Test func `a burst comes in also where few files may be open at once`() async throws {
        var random = SeededGenerator(seed: 9)
        let base = random.bytes(3000)
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { _ in
                for number in 0..<1000 {
                    try pair.laptop.drop(
                        base + Array("\(number)".utf8), as: BytePath("\(number).bin"))
                }
                let pi = try pair.pi.start(
                    program: "/bin/sh",
                    ["-c", "ulimit -n 256 && exec \"$@\"", "sh", pair.pi.executable, "run"])
                do {
                    try await pair.laptop.awaitReceipts(1000)
                } catch {
                    print(try pi.errorSoFar())
                    pi.send(signal: SIGKILL)
                    _ = try await pi.finished()
                    throw error
                }
                pi.send(signal: SIGKILL)
                _ = try await pi.finished()
                #expect(try FolderTree.paths(below: pair.pi.outbox).count == 1000)
            }
        }
    }

    @Test func `a tree with folders in folders arrives in both directions`() async throws {
        var random = SeededGenerator(seed: 2)
        let names: [BytePath] = [
            "one.jpg", "day 1/two.jpg", "day 1/morning/three.jpg", "Größe/vier.jpg",
            BytePath(bytes: Array("day 1/caf\u{FFFD}".utf8) + [0xE9] + Array(".jpg".utf8)),
        ]
        var contents: [String: [BytePath: [UInt8]]] = [:]
        for home in ["laptop", "pi"] {
            for name in names {
                contents[home, default: [:]][name] = SampleFiles.photo(50_000, using: &random)
            }
        }
        try await AgentPair.running { [contents] pair in
            for home in [pair.laptop, pair.pi] {
                for (name, bytes) in contents[home.name] ?? [:] { try home.drop(bytes, as: name) }
            }
            for (from, to) in [(pair.laptop, pair.pi), (pair.pi, pair.laptop)] {
                let dropped = FolderTree(
                    files: (contents[from.name] ?? [:]).mapValues { FolderTree.Content($0) })
                try await to.awaitOutbox(dropped.below(BytePath(from.name)))
                try await from.awaitReceipts(names.count)
            }
        }
    }

    /// How a file gets into an inbox.
    enum Arrival: String, CaseIterable, Sendable {
        case rename, copy, hardLink, unnamedFile
    }

    @Test(arguments: Arrival.allCases)
    func `however a file comes in, it comes out`(by arrival: Arrival) async throws {
        var random = SeededGenerator(seed: 3)
        let photo = SampleFiles.photo(200_000, using: &random)
        try await AgentPair.running { pair in
            let source = pair.laptop.path.appending("source.jpg")
            let target = pair.laptop.inbox.appending("photo.jpg")
            try SampleFiles.write(photo, to: source)
            try pair.laptop.user.own(source)
            switch arrival {
            case .rename: try pair.laptop.drop(photo, as: "photo.jpg")
            case .copy: try await run("/bin/cp", [source, target], in: pair.laptop)
            case .hardLink: try await run("/bin/ln", [source, target], in: pair.laptop)
            case .unnamedFile:
                try await run(
                    "/usr/bin/python3", ["-c", Self.linking, source, target], in: pair.laptop)
            }
            try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/photo.jpg": .init(photo)]))
            #expect(try FolderTree.Content(of: target) == .init(photo))
        }
    }

    /// Writes a file without a name, and gives it one when it is whole.
    private static let linking: BytePath = """
        import os, sys
        source, target = sys.argv[1:]
        file = os.open(os.path.dirname(target), os.O_TMPFILE | os.O_WRONLY, 0o644)
        os.write(file, open(source, "rb").read())
        here = os.open("/", os.O_RDONLY)  # with a folder given Python calls linkat, which follows
        os.link(f"/proc/self/fd/{file}", target, src_dir_fd=here, follow_symlinks=True)
        """

    private func run(
        _ program: BytePath, _ arguments: [BytePath], in home: AgentHome
    ) async throws {
        let result = try await home.start(program: program, arguments).finished()
        try #require(result.exitCode == 0, "\(result.error)")
    }

    @Test func `what was dropped while the peer was off arrives when it is back, once`()
        async throws
    {
        var random = SeededGenerator(seed: 4)
        let photos = (0..<3).map { _ in SampleFiles.photo(100_000, using: &random) }
        try await AgentPair.with { pair in
            var expected = FolderTree()
            for (round, photo) in photos.enumerated() {
                let name = BytePath("photo-\(round).jpg")
                expected.files[BytePath("laptop").appending(name)] = .init(photo)
                try await withAgents(pair.laptop) { agents in
                    try pair.laptop.drop(photo, as: name)
                    try await eventually("\(name) is shared") {
                        try await pair.laptop.status().folder?.shared == round + 1
                    }
                    let end = try await agents[0].stop()
                    #expect(end.exitCode == 0)
                }
                try await withAgents(pair.pi, pair.laptop) { _ in
                    try await pair.pi.awaitOutbox(expected)
                    try await pair.laptop.awaitReceipts(round + 1)
                }
            }
        }
    }

    @Test func `everything was said to be delivered while a file was being written`()
        async throws
    {
        var random = SeededGenerator(seed: 93)
        let photos = (0..<2).map { _ in SampleFiles.photo(50_000, using: &random) }
        try await AgentPair.running { pair in
            let laptop = pair.laptop
            try laptop.drop(photos[0], as: "whole.jpg")
            try await laptop.awaitReceipts(1)
            try await eventually("all is delivered") {
                try await laptop.chute("status").output.hasSuffix("\neverything is delivered\n")
            }
            let path = laptop.inbox.appending("open.jpg")
            do {
                let writer = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL)
                try laptop.user.own(path)
                try writer.write(Array(photos[1].prefix(20_000)), at: 0)
                var last: Substring?
                try await eventually("the open one is said") {
                    "\(last ?? "")"
                } holds: {
                    last = try await laptop.chute("status").output.split(separator: "\n").last
                    return last
                        == "next: nothing to do, 1 file in the inbox is shared once it is whole"
                }
                try writer.write(Array(photos[1].dropFirst(20_000)), at: 20_000)
            }
            try await laptop.awaitReceipts(2)
            try await eventually("all is delivered again") {
                try await laptop.chute("status").output.hasSuffix("\neverything is delivered\n")
            }
        }
    }
}
