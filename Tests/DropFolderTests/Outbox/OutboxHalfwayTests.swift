import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// Starts after a crash between a file's name and the record of it.
@Suite(.timeLimit(.minutes(2)))
struct OutboxHalfwayTests {
    /// Gives a wanted file its name as the writer does, as far as that: nothing is recorded but
    /// the intent.
    private func crashAfterRename(
        _ bench: WriterBench, _ document: OwnedDocument, _ text: String, to target: BytePath,
        replacing old: DeliveredCopy? = nil
    ) async throws {
        let record = try #require(try await bench.delivery(of: document))
        let staged = try #require(record.staged)
        let path = FolderRoot.markFolder.appending("staging").appending(staged)
        try bench.stage(Array(text.utf8), at: path)
        let folder = try Folder(at: bench.outbox)
        let print = CopyFingerprint(try #require(try folder.status(of: path)))
        let intent = PublishIntent(
            index: 0, start: staged.parent, stagedName: staged.lastComponent, target: target,
            fingerprint: print, replacing: old?.fingerprint)
        let row = IntentRecord(root: bench.root, document: document.id, intent: intent)
        try await bench.chute.store.write { transaction in
            try transaction.put(row)
            if let want = record.want { try transaction.finish(want: want) }
        }
        if old == nil {
            try folder.renameExclusively(path, to: target, in: folder)
        } else {
            try folder.exchange(path, with: target, in: folder)
        }
    }

    /// Brings a later version, as one start of the agent.
    private func bring(_ document: OwnedDocument, _ bench: WriterBench) async throws {
        try await bench.withWriter { writer in
            try await bench.awaitWant(of: document)
            // What a start before this one asked for is asked for anew, at another place.
            try await eventually("it is asked for by this start") {
                let start = await writer.start
                let staged = try await bench.delivery(of: document)?.staged
                return start != nil && staged?.parent == start
            }
            try await bench.fetch(for: writer)
            try await bench.awaitState(.delivered, of: document)
        }
    }

    private func locations(of document: OwnedDocument, _ bench: WriterBench) async throws
        -> [Location]
    {
        let file = try #require(document.fields.flatMap(FileDocument.init))
        return try await bench.chute.store.read { try $0.locations(of: file.attachment) }
    }

    @Test func `what the user made of a file before it was recorded is not replaced`()
        async throws
    {
        try await WriterBench.with { bench in
            let first = try await bench.share("a.txt", "one")
            try await bench.withWriter { _ in try await bench.awaitWant(of: first) }
            try await crashAfterRename(bench, first, "one", to: "a.txt")
            try bench.edit("a.txt", "the user's")
            try await bench.withWriter { _ in try await bench.awaitState(.delivered, of: first) }
            // Its bytes are not those of the file: whatever is asked for there is hashed.
            let status = try #require(try Folder(at: bench.outbox).status(of: "a.txt"))
            for location in try await locations(of: first, bench) {
                #expect(location.fingerprint != FileFingerprint(status).encoded)
            }
            let second = try await bench.share("a.txt", "two", after: first)
            try await bring(second, bench)
            #expect(try bench.text("a.txt") == "the user's")
            #expect(try bench.text("a (2).txt") == "two")
        }
    }

    @Test func `what the user made of it is not replaced by a version known at the start`()
        async throws
    {
        try await WriterBench.with { bench in
            let first = try await bench.share("a.txt", "one")
            try await bench.withWriter { _ in try await bench.awaitWant(of: first) }
            try await crashAfterRename(bench, first, "one", to: "a.txt")
            let second = try await bench.share("a.txt", "two", after: first)
            // Known to the row, but not to the intent, which a full disk had kept open.
            try await noteWanted(second, bench)
            try bench.edit("a.txt", "the user's")
            try await bring(second, bench)
            #expect(try bench.text("a.txt") == "the user's")
            #expect(try bench.text("a (2).txt") == "two")
        }
    }

    @Test func `a version that was left halfway beside the user's file is replaced by the next`()
        async throws
    {
        try await WriterBench.with { bench in
            try bench.stage(Array("one".utf8), at: "a.txt")
            let first = try await bench.deliver("a.txt", "one")
            #expect(try await bench.delivery(of: first)?.isUsersOwn == true)
            let second = try await bench.share("a.txt", "two", after: first)
            try await bench.withWriter { _ in try await bench.awaitWant(of: second) }
            try await crashAfterRename(bench, second, "two", to: "a (2).txt")
            let third = try await bench.share("a.txt", "three", after: second)
            try await noteWanted(third, bench)
            try await bring(third, bench)
            #expect(try bench.text("a.txt") == "one")
            #expect(try bench.text("a (2).txt") == "three")
            #expect(try bench.text("a (3).txt") == nil)
        }
    }

    @Test func `no location is left where a version that was left halfway took the name`()
        async throws
    {
        try await WriterBench.with { bench in
            let first = try await bench.deliver("a.txt", "one")
            let second = try await bench.share("a.txt", "two", after: first)
            try await bench.withWriter { _ in try await bench.awaitWant(of: second) }
            let copy = try #require(try await bench.delivery(of: second)?.copy)
            try await crashAfterRename(bench, second, "two", to: "a.txt", replacing: copy)
            let third = try await bench.share("a.txt", "three", after: second)
            try await noteWanted(third, bench)
            try await bench.withWriter { _ in
                try await eventually("the intent is ended") {
                    try await bench.chute.store.read { try $0.rows(IntentRecord.self) }.isEmpty
                }
            }
            #expect(try await locations(of: first, bench).isEmpty)
            try await bring(third, bench)
            #expect(try bench.text("a.txt") == "three")
            #expect(try await locations(of: third, bench).map(\.path) == ["a.txt"])
        }
    }

    /// The row goes on to a later version while the intent of the one before is open.
    private func noteWanted(_ document: OwnedDocument, _ bench: WriterBench) async throws {
        let rules = DeliveryDecision.Rules(accept: [.any], maxSize: nil)
        try await bench.chute.store.write { [root = bench.root] transaction in
            var writing = DeliveryWriting(
                transaction, root: root, start: "gone", rules: rules,
                budget: SpaceBudget(available: 100, reason: .noSpace))
            try writing.decide(document)
            // Asked for anew by the next start.
            let key = DeliveryRecord.key(root: root, document.id)
            guard var record = try transaction.row(DeliveryRecord.self, key), let want = record.want
            else { throw NeverHappened(what: "a want") }
            try transaction.unwant(want)
            record.want = nil
            try transaction.put(record)
        }
    }
}
