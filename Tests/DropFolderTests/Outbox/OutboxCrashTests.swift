import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

/// Stops a publisher between two steps, and lets a new one find out.
@Suite struct OutboxCrashTests {
    private func recovered(
        _ bench: OutboxBench, _ intent: PublishIntent?
    ) throws -> OutboxPublisher.Recovered {
        let again = try OutboxBench(at: bench.path)
        let intent = try #require(intent)
        let found = try again.publisher.recover(intent, now: OutboxBench.now)
        return try #require(found)
    }

    @Test func `a crash before the rename publishes again`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let group = bench.publisher.begin([try bench.item("a", "x")], now: OutboxBench.now)
            group.sync()
            let intent = group.intents().first
            guard case .publishAgain(let staged) = try recovered(bench, intent) else {
                Issue.record("not again")
                return
            }
            let item = PublishItem(staged: staged, components: [[0x61]], durability: .synced)
            #expect(try await bench.publish([item]).map(OutboxBench.path) == ["a"])
        }
    }

    @Test func `a crash after the rename records`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            _ = try await bench.deliver("pi/a", "x")
            guard case .published(let copy) = try recovered(bench, bench.intents.first) else {
                Issue.record("not published")
                return
            }
            #expect(copy.copy.fingerprint == CopyFingerprint(try bench.status("pi/a")))
            try bench.root.folder.folder(at: "pi").remove("a")
            guard case .movedByUser = try recovered(bench, bench.intents.first) else {
                Issue.record("not moved")
                return
            }
            try bench.root.folder.removeTree(".chute/staging")
            guard case .fetchAgain = try recovered(bench, bench.intents.first) else {
                Issue.record("not fetched")
                return
            }
        }
    }

    @Test func `a crash between link and unlink leaves one name`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let group = bench.publisher.begin([try bench.item("a", "x")], now: OutboxBench.now)
            group.sync()
            let intent = try #require(group.intents().first)
            try bench.staging.folder.link(intent.stagedName, to: "a", in: bench.root.folder)
            guard case .published = try recovered(bench, intent) else {
                Issue.record("not published")
                return
            }
            #expect(try bench.status("a").links == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a crash after the exchange keeps what came out`(isAsDelivered: Bool) async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("a", "one").copy
            let group = bench.publisher.begin(
                [try bench.item("a", "two", replacing: old)], now: OutboxBench.now)
            group.sync()
            let intent = try #require(group.intents().first)
            if !isAsDelivered { try bench.write("a", "the user's") }
            try bench.staging.folder.exchange(
                intent.stagedName, with: "a", in: bench.root.folder)
            switch try recovered(bench, intent) {
            case .published(let copy):
                #expect(isAsDelivered)
                #expect(copy.replaced?.path == ".chute/replaced/2025-12-31-a")
                #expect(try bench.read("a") == "two")
            case .publishAgain(let staged):
                #expect(!isAsDelivered)
                #expect(try bench.read("a") == "the user's")
                #expect(staged.identity == intent.identity)
            default: Issue.record("neither")
            }
        }
    }

    @Test func `a crash after the old copy was put aside still knows where it is`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("a", "one").copy
            let new = try await bench.deliver("a", "two", replacing: old)
            guard case .published(let copy) = try recovered(bench, bench.intents.last) else {
                Issue.record("not published")
                return
            }
            #expect(copy == new)
            #expect(copy.replaced != nil)
        }
    }

    @Test func `the user's file in staging gets its name back when ours was taken away`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let old = try await bench.deliver("pi/a", "one").copy
            let group = bench.publisher.begin(
                [try bench.item("pi/a", "two", replacing: old)], now: OutboxBench.now)
            group.sync()
            let intent = try #require(group.intents().first)
            try bench.write("pi/a", "the user's")
            let pi = try bench.root.folder.folder(at: "pi")
            try bench.staging.folder.exchange(intent.stagedName, with: "a", in: pi)
            try bench.root.folder.removeTree("pi")
            guard case .movedByUser = try recovered(bench, intent) else {
                Issue.record("not moved")
                return
            }
            let text = try bench.read("pi/a")
            #expect(text == "the user's")
        }
    }

    @Test func `nothing is looked at where the outbox is not mounted`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top.appending("out"))
            _ = try await bench.deliver("a", "x")
            try Folder(at: top).rename("out", to: "gone")
            let intent = try #require(bench.intents.first)
            #expect(try bench.publisher.recover(intent, now: 0) == nil)
        }
    }

    @Test func `the reaper unlinks only what we wrote and nothing needs`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let ours = (0..<3).map { number in
                BytePath(String(repeating: "a\(number)", count: 16) + "-1-x\(number)z")
            }
            let names: [BytePath] = ours + ["IMG_1.jpg", "users-1-x"]
            for name in names { _ = try bench.staging.create(name) }
            let foreign = try StagingFolder.make(in: bench.root)
            _ = try foreign.create(ours[0])
            let current = try StagingFolder.make(in: bench.root)
            _ = try current.create(ours[1])
            _ = try current.create(ours[2])
            let start = bench.staging.start
            let known = StagingReaper.Known(
                starts: [start, current.start],
                needed: [start.appending(ours[0]), current.start.appending(ours[1])])
            func reap(_ known: StagingReaper.Known) throws -> StagingReaper.Report {
                try StagingReaper.reap(
                    StagingReaper.files(in: bench.root), in: bench.root, current: current.start,
                    known: known)
            }
            let report = try reap(known)
            #expect(
                Set(report.removed) == [
                    start.appending(ours[1]), start.appending(ours[2]),
                    current.start.appending(ours[2]),
                ])
            #expect(
                Set(report.unknown) == [
                    start.appending("IMG_1.jpg"), start.appending("users-1-x"),
                    foreign.start.appending(ours[0]),
                ])
            #expect(report.emptied.isEmpty)
            #expect(try Set(bench.stagedNames()) == [ours[0], "IMG_1.jpg", "users-1-x"])
            for name in names { try bench.staging.folder.remove(name) }
            try current.folder.remove(ours[1])
            #expect(try reap(known).emptied == [start])
        }
    }

    @Test(arguments: ["", ".", "..", "../x", "a/b", "a\0b"])
    func `a start or name that is no plain name is not opened`(name: String) async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            #expect(try StagingFolder.reopen(BytePath(name), in: bench.root) == nil)
            #expect(try bench.staging.reopen(BytePath(name)) == nil)
        }
    }
}
