import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What an outbox writer finds when it starts, and what becomes of what it had begun.
@Suite(.timeLimit(.minutes(2)))
struct OutboxWriterTests {
    /// Leaves an outbox as a crash does between the exchange of a second version with what the
    /// user made of the first one, and the look at what came out. The staged path.
    private func crashInExchange(
        _ bench: WriterBench, _ document: OwnedDocument
    ) async throws -> BytePath {
        let record = try #require(try await bench.delivery(of: document))
        let (staged, old) = (try #require(record.staged), try #require(record.copy))
        let path = FolderRoot.markFolder.appending("staging").appending(staged)
        try bench.stage(Array("two".utf8), at: path)
        let folder = try Folder(at: bench.outbox)
        let print = CopyFingerprint(try #require(try folder.status(of: path)))
        let intent = PublishIntent(
            index: 0, start: staged.parent, stagedName: staged.lastComponent, target: old.path,
            fingerprint: print, replacing: old.fingerprint)
        let row = IntentRecord(root: bench.root, document: document.id, intent: intent)
        try await bench.chute.store.write { transaction in
            try transaction.put(row)
            if let want = record.want { try transaction.finish(want: want) }
        }
        try bench.edit(old.path, "the user's")
        try folder.exchange(path, with: old.path, in: folder)
        return path
    }

    @Test func `a user's file that an exchange brought out outlives a version that came later`()
        async throws
    {
        try await WriterBench.with { bench in
            let first = try await bench.deliver("a.txt", "one")
            let second = try await bench.share("a.txt", "two", after: first)
            try await bench.withWriter { _ in try await bench.awaitWant(of: second) }
            _ = try await crashInExchange(bench, second)
            #expect(try bench.text("a.txt") == "two")
            let third = try await bench.share("a.txt", "three", after: second)
            try await bench.withWriter { writer in
                try await bench.awaitWant(of: third)
                #expect(try bench.text("a.txt") == "the user's")
                try await bench.fetch(for: writer)
                try await bench.awaitState(.delivered, of: third)
            }
            #expect(try bench.text("a.txt") == "the user's")
            #expect(try bench.text("a (2).txt") == "three")
            try await bench.withWriter { _ in
                try await eventually("staging is empty") { try bench.staged().isEmpty }
            }
        }
    }

    @Test func `a user's file that an exchange brought out outlives a document taken back`()
        async throws
    {
        try await WriterBench.with { bench in
            let first = try await bench.deliver("a.txt", "one")
            let second = try await bench.share("a.txt", "two", after: first)
            try await bench.withWriter { _ in try await bench.awaitWant(of: second) }
            _ = try await crashInExchange(bench, second)
            let gone = try await bench.retract(second)
            try await bench.withWriter { _ in try await bench.awaitState(.retracted, of: gone) }
            #expect(try bench.text("a.txt") == "the user's")
            try await bench.withWriter { _ in
                try await eventually("staging is empty") { try bench.staged().isEmpty }
            }
        }
    }

    @Test func `a rename that a crash cut is carried on, and nothing counts as removed`()
        async throws
    {
        try await WriterBench.with { bench in
            let first = try await bench.deliver("pi/a.txt", "one")
            let second = try await bench.share("pi/b.txt", "one", after: first)
            let pi = try Folder(at: bench.outbox.appending("pi"))
            try pi.rename("a.txt", to: "b.txt")
            try await bench.withWriter { _ in
                try await bench.awaitState(.delivered, of: second)
            }
            #expect(try await bench.delivery(of: second)?.copy?.path == "pi/b.txt")
            #expect(try await bench.receipt(for: second)?.isRemoved == false)
            // The next looks find it there, too.
            try await bench.withWriter { writer in
                writer.events.post(.check)
                let third = try await bench.share("other.txt", "x")
                try await bench.awaitWant(of: third)
                #expect(try await bench.delivery(of: second)?.state == .delivered)
            }
        }
    }

    @Test func `a rename that a power cut left on the disk alone is found when it comes again`()
        async throws
    {
        try await WriterBench.with { bench in
            let first = try await bench.deliver("a.txt", "one")
            try Folder(at: bench.outbox).rename("a.txt", to: "b.txt")
            try await bench.withWriter { _ in try await bench.awaitState(.removed, of: first) }
            let second = try await bench.share("b.txt", "one", after: first)
            try await bench.withWriter { _ in
                try await bench.awaitState(.delivered, of: second)
            }
            #expect(try await bench.receipt(for: second)?.isRemoved == false)
        }
    }

    @Test func `what was staged for a file that is taken back goes at once`() async throws {
        try await WriterBench.with { bench in
            try await bench.withWriter { _ in
                let document = try await bench.share("a.txt", "one")
                try await bench.awaitWant(of: document)
                let want = try #require(try await bench.wants().first)
                try bench.stage(Array("on".utf8), at: want.path)
                let gone = try await bench.retract(document)
                try await bench.awaitState(.retracted, of: gone)
                try await eventually("the staged bytes are gone") { try bench.staged().isEmpty }
                #expect(try await bench.wants().isEmpty)
            }
        }
    }

    @Test func `what a late writer staged for a withdrawn want goes with the next check`()
        async throws
    {
        try await WriterBench.with { bench in
            try await bench.withWriter { writer in
                let document = try await bench.share("a.txt", "one")
                try await bench.awaitWant(of: document)
                let want = try #require(try await bench.wants().first)
                let gone = try await bench.retract(document)
                try await bench.awaitState(.retracted, of: gone)
                try bench.stage(Array("on".utf8), at: want.path)
                let other = want.path.parent.appending("IMG_0001.jpg")
                try bench.stage(Array("somebody's".utf8), at: other)
                writer.events.post(.check)
                try await eventually("only what is not ours is left") {
                    try bench.staged().map(\.lastComponent) == ["IMG_0001.jpg"]
                }
            }
        }
    }

    @Test func `a copy of an earlier version goes to the trash when a later one is taken back`()
        async throws
    {
        try await WriterBench.with {
            $0.onRetract = .trash
        } _: { bench in
            let first = try await bench.deliver("a.txt", "one")
            let second = try await bench.share("a.txt", "two", after: first)
            try await bench.withWriter { _ in
                try await bench.awaitWant(of: second)
                let gone = try await bench.retract(second)
                try await bench.awaitState(.retracted, of: gone)
            }
            #expect(try bench.text("a.txt") == nil)
            #expect(try await bench.wants().isEmpty)
        }
    }

    @Test func `a file of a member that was removed is asked for no more, until it is back`()
        async throws
    {
        try await WriterBench.with { bench in
            try await bench.withWriter { _ in
                let document = try await bench.share("a.txt", "one")
                try await bench.awaitWant(of: document)
                let want = try #require(try await bench.wants().first)
                try bench.stage(Array("on".utf8), at: want.path)
                try await bench.hide(document, true)
                try await eventually("no row, no want, nothing staged") {
                    let record = try await bench.delivery(of: document)
                    let wants = try await bench.wants()
                    return try record == nil && wants.isEmpty && bench.staged().isEmpty
                }
                try await bench.hide(document, false)
                try await bench.awaitWant(of: document)
            }
        }
    }
}
