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
            let root = pair.laptop.inbox
            try make("inbox.jpg") { name in root.withCString { symlink($0, name) } }
            try make("socket.jpg") { bindSocket($0) }
            if TestUser.isRoot {
                try make("null.jpg") { mknod($0, S_IFCHR | 0o666, 0x103) }
                try make("disk.jpg") { mknod($0, S_IFBLK | 0o666, 0x700) }
            }
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
            for node: BytePath in ["pipe.jpg", "socket.jpg"] {
                #expect(skipped[node] == "not-regular")
            }
            if TestUser.isRoot {
                for node: BytePath in ["null.jpg", "disk.jpg"] {
                    #expect(skipped[node] == "not-regular")
                }
            }
            for link: BytePath in ["outside.jpg", "itself.jpg", "loop", "inbox.jpg"] {
                #expect(skipped[link] == "symlink")
            }
            #expect(skipped[".secret.jpg"] == "hidden")
            #expect(skipped["half.jpg.part"] == "ignored")
            #expect(skipped["empty.txt"] == "empty")
            if TestUser.isRoot { #expect(skipped["closed.jpg"] == "unreadable") }
            #expect(try inbox.status(of: "pipe.jpg") != nil)
            let status = try await pair.laptop.status()
            #expect(status.running)
            #expect(status.folder?.state == "running")
            // All of it was dropped before the good one; and one more comes after.
            try pair.laptop.drop(photo.reversed(), as: "next.dat")
            expected.files["laptop/next.dat"] = .init(photo.reversed())
            try await pair.pi.awaitOutbox(expected)
            try await pair.laptop.awaitReceipts(expected.files.count)
        }
    }

    /// Calls `socket` and `bind`; 0 or -1, as they do.
    private func bindSocket(_ path: UnsafePointer<CChar>) -> Int32 {
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return -1 }
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let count = strlen(path)
        guard count < MemoryLayout.size(ofValue: address.sun_path) else { return -1 }
        withUnsafeMutableBytes(of: &address.sun_path) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: path, count: count))
        }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
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
