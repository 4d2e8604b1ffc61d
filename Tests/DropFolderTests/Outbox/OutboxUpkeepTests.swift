import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What an outbox writer does about what waits, rests, or was replaced.
@Suite(.timeLimit(.minutes(2)))
struct OutboxUpkeepTests {
    @Test func `what could not be named is published from staging, not fetched again`()
        async throws
    {
        try await WriterBench.with { bench in
            let document = try await bench.share("a.txt", "one")
            try await bench.withWriter { _ in try await bench.awaitWant(of: document) }
            var record = try #require(try await bench.delivery(of: document))
            let want = try #require(try await bench.wants().first)
            try bench.stage(Array("one".utf8), at: want.path)
            record.want = nil
            record.state = .waiting
            let waiting = record
            try await bench.chute.store.write { transaction in
                try transaction.finish(want: want.id)
                try transaction.put(waiting)
            }
            try await bench.withWriter { _ in
                try await bench.awaitState(.delivered, of: document)
                #expect(try await bench.wants().isEmpty)
            }
            #expect(try bench.text("a.txt") == "one")
        }
    }

    @Test func `what is to come again while the outbox is not open comes once it is`()
        async throws
    {
        try await WriterBench.with { bench in
            let document = try await bench.deliver("a.txt", "one")
            try Folder(at: bench.outbox).remove("a.txt")
            try await bench.withWriter { _ in try await bench.awaitState(.removed, of: document) }
            // As a command does that opens the agent itself.
            #expect(try await bench.writer().redeliver("a.txt") == 1)
            try await bench.withWriter { writer in
                try await bench.awaitWant(of: document)
                try await bench.fetch(for: writer)
                try await bench.awaitState(.delivered, of: document)
            }
            #expect(try bench.text("a.txt") == "one")
        }
    }

    @Test func `a want that is asked for anew needs its space once`() async throws {
        try await WriterBench.with {
            $0.maxTotal = 10
        } _: { bench in
            let first = try await bench.share("a.txt", "6bytes")
            try await bench.withWriter { _ in try await bench.awaitWant(of: first) }
            let want = try #require(try await bench.wants().first)
            // The next start finds nothing of it, not even its folder.
            try await bench.withWriter { _ in
                try await eventually("another want") {
                    let wants = try await bench.wants()
                    return wants.count == 1 && wants[0].id != want.id
                }
            }
            #expect(try await bench.delivery(of: first)?.state == .fetching)
        }
    }

    @Test func `bytes that are promised are not promised twice`() async throws {
        try await WriterBench.with {
            $0.maxTotal = 10
        } _: { bench in
            try await bench.withWriter { writer in
                let first = try await bench.share("a.txt", "6bytes")
                try await bench.awaitWant(of: first)
                let second = try await bench.share("b.txt", "6 more")
                try await bench.awaitState(.waiting, of: second)
                #expect(try await bench.delivery(of: second)?.reason == "over-quota")
                _ = try await bench.retract(first)
                try await eventually("the first is withdrawn") {
                    try await bench.wants().isEmpty
                }
                writer.events.post(.tick)
                try await bench.awaitWant(of: second)
            }
        }
    }

    @Test func `what took the name of a removed copy is still known to have its bytes`()
        async throws
    {
        try await WriterBench.with { bench in
            // Both come out as the second one is called.
            let first = try await bench.deliver("a\u{1}.txt", "one")
            let second = try await bench.withWriterAfterCheck { writer in
                try Folder(at: bench.outbox).remove("a%01.txt")
                let second = try await bench.share("a%01.txt", "two")
                try await bench.awaitWant(of: second)
                try await bench.fetch(for: writer)
                try await bench.awaitState(.delivered, of: second)
                writer.events.post(.check)
                try await bench.awaitState(.removed, of: first)
                return second
            }
            #expect(try bench.text("a%01.txt") == "two")
            let file = try #require(second.fields.flatMap(FileDocument.init))
            let locations = try await bench.chute.store.read {
                try $0.locations(of: file.attachment)
            }
            #expect(locations.map(\.path) == ["a%01.txt"])
        }
    }

    @Test func `an outbox that another agent has is left alone until that lets go`() async throws {
        try await WriterBench.with { bench in
            let (others, own) = (FolderLocks(), FolderLocks())
            let isTaken = try others.take(1, Folder(at: bench.outbox))
            #expect(isTaken)
            let document = try await bench.share("a.txt", "one")
            try await bench.withWriter(locks: own) { writer in
                try await eventually("it waits") { await writer.isWaiting }
                #expect(own.isElsewhere(bench.root))
                let chute = try Folder(at: bench.outbox.appending(".chute"))
                #expect(try chute.status(of: "staging") == nil)
                #expect(try await bench.wants().isEmpty)
                others.release(1)
                writer.events.post(.tick)
                try await bench.awaitWant(of: document)
                #expect(!own.isElsewhere(bench.root))
            }
        }
    }

    @Test func `an outbox that is not configured rests, and asks again when it is`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.share("a.txt", "one")
            try await bench.withWriter { _ in try await bench.awaitWant(of: document) }
            let want = try #require(try await bench.wants().first)
            try bench.stage(Array("on".utf8), at: want.path)
            let log = Log(showsPriority: false)
            let none = try await AgentFolders(Configuration(), bench.chute, log: log)
            try await none.restOthers(bench.chute)
            #expect(try await bench.wants().isEmpty)
            try await bench.withWriter { writer in
                try await bench.awaitWant(of: document)
                #expect(try await bench.wants().map(\.id) != [want.id])
                try await eventually("the part is gone") { try bench.staged().isEmpty }
                try await bench.fetch(for: writer)
                try await bench.awaitState(.delivered, of: document)
            }
        }
    }

    @Test func `an outbox that is configured does not rest`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.share("a.txt", "one")
            try await bench.withWriter { _ in try await bench.awaitWant(of: document) }
            var configuration = Configuration()
            configuration.folders = [bench.settings]
            let log = Log(showsPriority: false)
            let folders = try await AgentFolders(configuration, bench.chute, log: log)
            try await folders.restOthers(bench.chute)
            #expect(try await bench.wants().count == 1)
        }
    }

    @Test func `an outbox that gets another collection looks at all of it`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.share("a.txt", "one")
            try await bench.withWriter { _ in try await bench.awaitWant(of: document) }
            var configuration = Configuration()
            configuration.folders = [bench.settings]
            configuration.folders[0].collection = "other"
            let log = Log(showsPriority: false)
            let folders = try await AgentFolders(configuration, bench.chute, log: log)
            #expect(folders.all.first?.outbox?.learned == 0)
            #expect(folders.all.first?.outbox?.collectionName == "other")
        }
    }

    /// Delivers two versions; the row of the first one, in `.chute/replaced`.
    private func replace(_ bench: WriterBench) async throws -> (ReplacedRecord, OwnedDocument) {
        let first = try await bench.deliver("a.txt", "one")
        let second = try await bench.share("a.txt", "two", after: first)
        try await bench.withWriter { writer in
            try await bench.awaitWant(of: second)
            try await bench.fetch(for: writer)
            try await bench.awaitState(.delivered, of: second)
        }
        let rows = try await bench.chute.store.read { try $0.rows(ReplacedRecord.self) }
        let row = try #require(rows.first)
        #expect(rows.count == 1)
        #expect(try bench.text(row.copy.path) == "one")
        return (row, second)
    }

    private static func days(_ count: Int64, after row: ReplacedRecord) -> Int64 {
        (row.since + count * 86_400) * 1_000_000_000
    }

    @Test func `a replaced copy goes after 30 days, and not a day before`() async throws {
        try await WriterBench.with { bench in
            let (row, _) = try await replace(bench)
            try await bench.withWriter { writer in
                try await eventually("the outbox is open") { await writer.isOpen }
                try await writer.sweepReplaced(now: Self.days(29, after: row))
                #expect(try bench.text(row.copy.path) == "one")
                try await writer.sweepReplaced(now: Self.days(30, after: row))
                #expect(try bench.text(row.copy.path) == nil)
                #expect(try bench.text("a.txt") == "two")
            }
            let rows = try await bench.chute.store.read { try $0.rows(ReplacedRecord.self) }
            #expect(rows.isEmpty)
        }
    }

    @Test func `a replaced copy stays when it is the last one that is known`() async throws {
        try await WriterBench.with { bench in
            let (row, second) = try await replace(bench)
            try Folder(at: bench.outbox).remove("a.txt")
            try await bench.withWriter { writer in
                try await bench.awaitState(.removed, of: second)
                try await writer.sweepReplaced(now: Self.days(31, after: row))
                #expect(try bench.text(row.copy.path) == "one")
            }
        }
    }

    @Test func `a replaced copy that a person changed or took is left`() async throws {
        try await WriterBench.with { bench in
            let (row, _) = try await replace(bench)
            try bench.edit(row.copy.path, "a person's")
            try await bench.withWriter { writer in
                try await eventually("the outbox is open") { await writer.isOpen }
                try await writer.sweepReplaced(now: Self.days(31, after: row))
                #expect(try bench.text(row.copy.path) == "a person's")
            }
        }
    }
}
