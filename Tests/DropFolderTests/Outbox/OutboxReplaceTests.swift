import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct OutboxReplaceTests {
    @Test func `an untouched copy gives way to the new version and is kept aside`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("pi/a.jpg", "one").copy
            let new = try await bench.deliver("pi/a.jpg", "two", replacing: old)
            #expect(new.copy.path == "pi/a.jpg")
            #expect(try bench.read("pi/a.jpg") == "two")
            let replaced = try #require(new.replaced)
            #expect(replaced.path == ".chute/replaced/2025-12-31-a.jpg")
            #expect(replaced.fingerprint.identity == old.fingerprint.identity)
            #expect(try bench.read(".chute/replaced/2025-12-31-a.jpg") == "one")
            #expect(try bench.stagedNames().isEmpty)
            #expect(bench.intents.last?.replacing == old.fingerprint)
        }
    }

    @Test(arguments: ["edited", "replaced", "touched", "open for writing", "a link"])
    func `a copy that is not ours any more stays, the new version stands beside`(
        how: String
    ) async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("a.jpg", "one").copy
            let writer = try FileDescriptor.open(
                "a.jpg", in: bench.root.folder.descriptor.raw,
                how == "open for writing" ? O_RDWR : O_RDONLY)
            switch how {
            case "edited": try bench.write("a.jpg", "the user's")
            case "touched": utimensat(AT_FDCWD, top.appending("a.jpg").string ?? "", nil, 0)
            case "open for writing": break
            default:
                try bench.root.folder.remove("a.jpg")
                if how == "a link" {
                    symlink("b", top.appending("a.jpg").string ?? "")
                } else {
                    try bench.write("a.jpg", "one")
                }
            }
            let before = try bench.status("a.jpg")
            let new = try await bench.deliver("a.jpg", "two", replacing: old)
            #expect(new.copy.path == "a (2).jpg")
            #expect(new.replaced == nil)
            #expect(try bench.status("a.jpg") == before)
            #expect(try bench.read("a (2).jpg") == "two")
            _ = writer.raw
        }
    }

    @Test func `an edit between check and exchange is put back`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("a.jpg", "one").copy
            let item = try bench.item("a.jpg", "two", replacing: old)
            let group = bench.publisher.begin([item], now: OutboxBench.now)
            group.sync()
            #expect(group.intents().map(\.target) == ["a.jpg"])
            try bench.write("a.jpg", "the user's")
            group.rename()
            #expect(try bench.read("a.jpg") == "the user's")
            #expect(group.intents().map(\.target) == ["a (2).jpg"])
            group.rename()
            group.syncFolders()
            #expect(OutboxBench.path(group.outcomes.first) == "a (2).jpg")
            #expect(try bench.names() == ["a.jpg", "a (2).jpg"])
        }
    }

    @Test func `a writer that opened the old copy before the exchange gets it back`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("a.jpg", "one").copy
            let item = try bench.item("a.jpg", "two", replacing: old)
            let group = bench.publisher.begin([item], now: OutboxBench.now)
            group.sync()
            _ = group.intents()
            let writer = try bench.root.folder.open("a.jpg", O_WRONLY)
            group.rename()
            try writer.write(Array("USER".utf8), at: 0)
            #expect(try bench.read("a.jpg") == "USER")
        }
    }

    @Test func `a copy that was taken away between check and exchange leaves its name free`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("a.jpg", "one").copy
            let group = bench.publisher.begin(
                [try bench.item("a.jpg", "two", replacing: old)], now: OutboxBench.now)
            group.sync()
            _ = group.intents()
            try bench.root.folder.remove("a.jpg")
            group.rename()
            #expect(group.intents().map(\.target) == ["a.jpg"])
            group.rename()
            group.syncFolders()
            #expect(try bench.read("a.jpg") == "two")
        }
    }

    @Test func `an untouched copy moves along, a touched one stays`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let copy = try await bench.deliver("pi/a.jpg", "one").copy
            try bench.write("b.jpg", "the user's")
            let to = [Array("b.jpg".utf8)]
            guard case .moved(let moved) = bench.publisher.moveCopy(copy, to: to) else {
                Issue.record("not moved")
                return
            }
            #expect(moved.path == "b (2).jpg")
            #expect(moved.fingerprint == CopyFingerprint(try bench.status("b (2).jpg")))
            #expect(try bench.read("b.jpg") == "the user's")
            // As after a crash that came before the new name was recorded.
            #expect(bench.publisher.moveCopy(copy, to: to) == .moved(moved))
            #expect(bench.publisher.moveCopy(copy, to: [Array("c.jpg".utf8)]) == .touched)
            try bench.write("b (2).jpg", "edited")
            #expect(bench.publisher.moveCopy(moved, to: [Array("c".utf8)]) == .touched)
            #expect(try bench.read("b (2).jpg") == "edited")
        }
    }
}
