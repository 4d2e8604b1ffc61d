import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct OutboxPublisherTests {
    @Test func `a file gets its name, time and mode, and staging is empty`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let time: FileStatus.Nanoseconds = 1_234_567_890_123_456_789
            let outcome = try await bench.publish([
                bench.item("pi/trip/a.jpg", "hello", modified: time)
            ]).first
            #expect(OutboxBench.path(outcome) == "pi/trip/a.jpg")
            #expect(try bench.read("pi/trip/a.jpg") == "hello")
            let status = try bench.status("pi/trip/a.jpg")
            #expect(status.modified == time)
            #expect(status.mode & 0o111 == 0)
            #expect(status.mode & 0o400 != 0)
            #expect(status.links == 1)
            #expect(try bench.stagedNames().isEmpty)
            guard case .published(let copy)? = outcome else { return }
            #expect(copy.copy.fingerprint == CopyFingerprint(status))
            #expect(bench.intents.map(\.target) == ["pi/trip/a.jpg"])
            #expect(bench.intents.first?.identity == copy.copy.fingerprint.identity)
        }
    }

    @Test func `a time before 1970 is kept`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            try await bench.publish([bench.item("a", "x", modified: -1_500_000_001)])
            #expect(try bench.status("a").modified == -1_500_000_001)
        }
    }

    @Test func `a user's file of that name stays, ours stands beside`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            try bench.write("a.jpg", "the user's")
            let outcomes = try await bench.publish([
                bench.item("a.jpg", "ours"), bench.item("a.jpg", "another"),
            ])
            #expect(outcomes.map(OutboxBench.path) == ["a (2).jpg", "a (3).jpg"])
            #expect(try bench.read("a.jpg") == "the user's")
            #expect(try bench.read("a (2).jpg") == "ours")
            #expect(try bench.read("a (3).jpg") == "another")
        }
    }

    @Test func `identical bytes under the name are adopted`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            try bench.write("a.jpg", "same")
            let before = try bench.status("a.jpg")
            let outcomes = try await bench.publish([bench.item("a.jpg", "same")])
            let copy = DeliveredCopy(path: "a.jpg", fingerprint: CopyFingerprint(before))
            #expect(outcomes == [.adopted(copy)])
            #expect(try bench.names() == ["a.jpg"])
            #expect(try bench.stagedNames().isEmpty)
            #expect(bench.intents.isEmpty)
        }
    }

    @Test func `identical files in one group become one`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let outcomes = try await bench.publish([
                bench.item("a.jpg", "same"), bench.item("a.jpg", "same"),
                bench.item("a.jpg", "SAME"),
            ])
            #expect(outcomes.map(OutboxBench.path) == ["a.jpg", "a.jpg", "a (2).jpg"])
            #expect(try bench.names() == ["a.jpg", "a (2).jpg"])
        }
    }

    @Test func `an identical file that somebody writes to is not adopted`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            try bench.write("a.jpg", "same")
            let writer = try bench.root.folder.open("a.jpg", O_WRONLY)
            let outcomes = try await bench.publish([bench.item("a.jpg", "same")])
            #expect(outcomes.map(OutboxBench.path) == ["a (2).jpg"])
            _ = writer.raw
        }
    }

    @Test func `a file made between check and rename stays`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let group = bench.publisher.begin(
                [try bench.item("pi/a.jpg", "ours")], now: OutboxBench.now)
            group.sync()
            #expect(group.intents().map(\.target) == ["pi/a.jpg"])
            try bench.root.folder.makeFolder("pi")
            try bench.write("pi/a.jpg", "the user's")
            group.rename()
            #expect(group.intents().map(\.target) == ["pi/a (2).jpg"])
            group.rename()
            #expect(group.intents().isEmpty)
            group.syncFolders()
            #expect(OutboxBench.path(group.outcomes.first) == "pi/a (2).jpg")
            #expect(try bench.read("pi/a.jpg") == "the user's")
        }
    }

    @Test func `a link in the place of a file or folder is not followed`() async throws {
        try await withTemporaryDirectory { top in
            try Folder(at: top).makeFolder("victim")
            let victim = try Folder(at: top.appending("victim"))
            let secret = try victim.open("secret", O_WRONLY | O_CREAT)
            try secret.write(Array("untouched".utf8), at: 0)
            let bench = try OutboxBench(at: top.appending("out"))
            symlink("../victim/secret", bench.path.appending("a.jpg").string ?? "")
            symlink("../victim", bench.path.appending("pi").string ?? "")
            symlink("../victim/new", bench.path.appending("dangling").string ?? "")
            let outcomes = try await bench.publish([
                bench.item("a.jpg", "untouched"), bench.item("pi/b", "y"),
                bench.item("dangling", "z"),
            ])
            #expect(outcomes.map(OutboxBench.path) == ["a (2).jpg", "pi (2)/b", "dangling (2)"])
            #expect(try victim.entries().map(\.name) == ["secret"])
            #expect(try secret.status().size == 9)
        }
    }

    @Test func `a link planted between check and rename is not followed`() async throws {
        try await withTemporaryDirectory { top in
            try Folder(at: top).makeFolder("victim")
            let bench = try OutboxBench(at: top.appending("out"))
            let group = bench.publisher.begin(
                [try bench.item("pi/x/a", "ours")], now: OutboxBench.now)
            group.sync()
            _ = group.intents()
            symlink("../victim", bench.path.appending("pi").string ?? "")
            group.rename()
            #expect(group.intents().map(\.target) == ["pi (2)/x/a"])
            group.rename()
            #expect(try Folder(at: top.appending("victim")).entries().isEmpty)
            #expect(try bench.read("pi (2)/x/a") == "ours")
        }
    }

    @Test func `a file in the place of a folder is passed by`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let outcomes = try await bench.publish([
                bench.item("pi", "a file"), bench.item("pi/b", "below"),
            ])
            #expect(outcomes.map(OutboxBench.path) == ["pi", "pi (2)/b"])
        }
    }

    @Test func `a group of 300 files arrives, each under its own inode`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let items = try (0..<300).map { try bench.item("pi/d\($0 % 7)/f\($0)", "text \($0)") }
            let outcomes = try await bench.publish(items)
            #expect(outcomes.count == 300)
            #expect(bench.intents.count == 300)
            var inodes: Set<UInt64> = []
            for index in 0..<300 {
                let name = "pi/d\(index % 7)/f\(index)"
                #expect(try bench.read(name) == "text \(index)")
                inodes.insert(try bench.status(name).inode)
            }
            #expect(inodes.count == 300)
            #expect(try bench.stagedNames().isEmpty)
        }
    }

    @Test func `a copy of a published file shares no inode with it`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            _ = try await bench.deliver("a", "bytes")
            let source = try bench.root.folder.open("a", O_RDONLY)
            let staged = try bench.staging.copy(of: source, to: "copy")
            try await bench.publish([PublishItem(staged: staged, components: [[0x62]])])
            #expect(try bench.read("b") == "bytes")
            #expect(try bench.status("b").inode != (try bench.status("a").inode))
        }
    }

    @Test func `a staged file with a second link is not published`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let item = try bench.item("a", "x")
            try bench.staging.folder.link(item.staged.name, to: "second", in: bench.staging.folder)
            #expect(try await bench.publish([item]) == [.failed(PublishFailure(.mustRewrite))])
            #expect(try bench.names().isEmpty)
        }
    }

    @Test func `nothing is written where the root is not in place`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top.appending("out"))
            let item = try bench.item("a", "x")
            try Folder(at: top).rename("out", to: "gone")
            #expect(try await bench.publish([item]) == [.failed(PublishFailure(.notMounted))])
            #expect(try Folder(at: top).entries().map(\.name) == ["gone"])
        }
    }

    @Test func `a name that is too long for the file system is refused, the others arrive`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let long = String(repeating: "a", count: 256)
            let outcomes = try await bench.publish([bench.item(long, "x"), bench.item("b", "y")])
            guard case .failed(let failure)? = outcomes.first else {
                Issue.record("published")
                return
            }
            #expect(failure.reason == .nameRefused)
            #expect(OutboxBench.path(outcomes.last) == "b")
        }
    }

    @Test(arguments: [
        [], [""], [".."], ["."], ["..", "x"], ["../x"], ["a", "b/c"], ["a\0b"], [".chute", "id"],
        ["a", ".."],
    ])
    func `components that are no names are refused even when nobody checked them before`(
        components: [String]
    ) async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top.appending("out"))
            let named = components.map { Array($0.utf8) }
            let item = PublishItem(staged: try bench.item("a", "x").staged, components: named)
            #expect(try await bench.publish([item]) == [.failed(PublishFailure(.nameRefused))])
            let copy = try await bench.deliver("there", "y").copy
            #expect(
                bench.publisher.moveCopy(copy, to: named) == .failed(PublishFailure(.nameRefused)))
            #expect(try bench.names() == ["there"])
            #expect(try Folder(at: top).entries().count == 1)
        }
    }

    @Test(
        .enabled(if: NamesCorpus.isPresent, "the corpus is not there"))
    func `all names of the corpus arrive side by side`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            var items: [PublishItem] = []
            for name in NamesCorpus.names {
                let parts = OutboxNaming.split(BytePath(bytes: name.bytes))
                guard let named = try? OutboxNaming().name([[0x70]] + parts) else { continue }
                let staged = try bench.staging.create(BytePath("n\(name.id)"))
                try staged.descriptor.write(Array("\(name.id)".utf8), at: 0)
                items.append(PublishItem(staged: staged, components: named))
            }
            let outcomes = try await bench.publish(items)
            for (item, outcome) in zip(items, outcomes) {
                guard case .published(let copy) = outcome else {
                    Issue.record("\(item.staged.name): \(outcome)")
                    continue
                }
                let id = try bench.root.folder.open(copy.copy.path, O_RDONLY)
                let text = String(decoding: try id.read(count: 9, at: 0), as: UTF8.self)
                #expect(BytePath("n\(text)") == item.staged.name)
            }
            #expect(Set(outcomes.compactMap(OutboxBench.path)).count > 60)
            #expect(try bench.names() == ["p"])
        }
    }
}
