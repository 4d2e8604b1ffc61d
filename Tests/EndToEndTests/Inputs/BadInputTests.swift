import ChuteSystem
import Glibc
import TestSupport
import Testing

/// What is no good file is listed with its reason, and the good file after it arrives.
@Suite(.timeLimit(.minutes(3)))
struct BadInputTests {
    @Test func `what cannot be shared is listed, and the next photo arrives`() async throws {
        var random = SeededGenerator(seed: 21)
        let photo = SampleFiles.photo(50_000, using: &random)
        try await AgentPair.running { pair in
            let inbox = try Folder(at: pair.laptop.inbox)
            func make(_ name: BytePath, _ body: (UnsafePointer<CChar>) -> Int32) throws {
                let path = pair.laptop.inbox.appending(name)
                guard path.withCString({ body($0) }) == 0 else {
                    throw SystemError.current("make", path)
                }
                try pair.laptop.user.own(path)
            }
            try make("pipe.jpg") { mkfifo($0, 0o666) }
            try make("outside.jpg") { symlink("/etc/passwd", $0) }
            try make("itself.jpg") { symlink("itself.jpg", $0) }
            try make("loop") { symlink(".", $0) }
            try pair.laptop.drop(photo, as: "closed.jpg")
            if let number = pair.laptop.user.number {
                // Of another owner and closed to all: only root could read it.
                let path = pair.laptop.inbox.appending("closed.jpg")
                _ = path.withCString { chmod($0, 0) }
                _ = path.withCString { lchown($0, number + 1, number + 1) }
            }
            try pair.laptop.drop([], as: "empty.txt")
            try pair.laptop.drop(photo, as: ".secret.jpg")
            try pair.laptop.drop(photo, as: "half.jpg.part")
            let twins: [BytePath] = [
                BytePath(bytes: Array("e".utf8) + [0xCC, 0x81] + Array(".jpg".utf8)),
                BytePath(bytes: [0xC3, 0xA9] + Array(".jpg".utf8)),
                BytePath(bytes: [0x61, 0xFF]), BytePath(bytes: [0x61, 0xFE]),
                BytePath(bytes: [0x61, 0xEF, 0xBF, 0xBD]),
            ]
            var expected = FolderTree()
            for (number, name) in twins.enumerated() {
                let bytes = Array("twin \(number)".utf8)
                try pair.laptop.drop(bytes, as: name)
                expected.files[BytePath("laptop").appending(name)] = .init(bytes)
            }
            expected.files["laptop/empty.txt"] = .init([])
            try pair.laptop.drop(photo, as: "good.jpg")
            expected.files["laptop/good.jpg"] = .init(photo)
            if !TestUser.isRoot { expected.files["laptop/closed.jpg"] = .init(photo) }
            try await pair.pi.awaitOutbox(expected)
            let skipped = try await pair.laptop.skipped()
            #expect(skipped["pipe.jpg"] == "not-regular")
            for link: BytePath in ["outside.jpg", "itself.jpg", "loop"] {
                #expect(skipped[link] == "symlink")
            }
            #expect(skipped[".secret.jpg"] == "hidden")
            #expect(skipped["half.jpg.part"] == "ignored")
            #expect(skipped["empty.txt"] == "empty")
            if TestUser.isRoot { #expect(skipped["closed.jpg"] == "unreadable") }
            #expect(try inbox.status(of: "pipe.jpg") != nil)
        }
    }

    @Test func `an edited file takes the place of its copy, unless the user touched that`()
        async throws
    {
        var random = SeededGenerator(seed: 22)
        let photos = (0..<6).map { _ in SampleFiles.photo(60_000, using: &random) }
        try await AgentPair.running { pair in
            for name: BytePath in ["replaced.jpg", "saved.jpg", "touched.jpg"] {
                try pair.laptop.drop(photos[0], as: name)
            }
            var expected = FolderTree(files: [
                "laptop/replaced.jpg": .init(photos[0]), "laptop/saved.jpg": .init(photos[0]),
                "laptop/touched.jpg": .init(photos[0]),
            ])
            try await pair.pi.awaitOutbox(expected)
            try await pair.laptop.awaitReceipts(3)
            let outbox = pair.pi.outbox.appending("laptop")
            let touched = try FileDescriptor.open(
                outbox.appending("touched.jpg"), O_WRONLY | O_TRUNC)
            try touched.write(photos[5], at: 0)

            // As exiftool saves: a new file over the name, in one step.
            try pair.laptop.drop(photos[1], as: "replaced.jpg")
            // As editors save: the old file aside, a new one under the name.
            let inbox = try Folder(at: pair.laptop.inbox)
            try inbox.rename("saved.jpg", to: "saved.jpg~")
            try pair.laptop.drop(photos[2], as: "saved.jpg")
            try pair.laptop.drop(photos[3], as: "touched.jpg")
            expected.files["laptop/replaced.jpg"] = .init(photos[1])
            expected.files["laptop/saved.jpg"] = .init(photos[2])
            expected.files["laptop/touched.jpg"] = .init(photos[5])
            expected.files["laptop/touched (2).jpg"] = .init(photos[3])
            try await eventually(within: .seconds(30), "the new versions") {
                "there are \(try FolderTree(of: pair.pi.outbox))"
            } holds: {
                try FolderTree(of: pair.pi.outbox) == expected
            }
        }
    }

    @Test func `a rename moves the copy along, and what the user has is never replaced`()
        async throws
    {
        var random = SeededGenerator(seed: 23)
        let photos = (0..<3).map { _ in SampleFiles.photo(60_000, using: &random) }
        try await AgentPair.running { pair in
            try pair.laptop.drop(photos[0], as: "a.jpg")
            try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/a.jpg": .init(photos[0])]))
            let outbox = pair.pi.outbox.appending("laptop")
            try SampleFiles.write(photos[1], to: outbox.appending("mine.jpg"))
            try pair.pi.user.own(outbox.appending("mine.jpg"))
            try Folder(at: pair.laptop.inbox).rename("a.jpg", to: "b.jpg")
            try pair.laptop.drop(photos[2], as: "mine.jpg")
            try await pair.pi.awaitOutbox(
                FolderTree(files: [
                    "laptop/b.jpg": .init(photos[0]), "laptop/mine.jpg": .init(photos[1]),
                    "laptop/mine (2).jpg": .init(photos[2]),
                ]))
        }
    }
}
