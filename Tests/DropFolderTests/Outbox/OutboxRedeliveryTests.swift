import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What comes again when a person asks for it.
@Suite(.timeLimit(.minutes(2)))
struct OutboxRedeliveryTests {
    /// Brings what was asked for again.
    private func bring(
        _ document: OwnedDocument, _ bench: WriterBench, _ writer: OutboxWriter
    ) async throws {
        try await bench.awaitWant(of: document)
        try await bench.fetch(for: writer)
        try await bench.awaitState(.delivered, of: document)
    }

    @Test func `a copy that was removed a moment ago comes again`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.deliver("pi/a.txt", "one")
            try await bench.withWriterAfterCheck { writer in
                try Folder(at: bench.outbox.appending("pi")).remove("a.txt")
                #expect(try await writer.redeliver(bench.outbox.appending("pi/a.txt")) == 1)
                #expect(try await bench.receipt(for: document)?.isRemoved == true)
                try await bring(document, bench, writer)
                #expect(try bench.text("pi/a.txt") == "one")
                #expect(try await bench.receipt(for: document)?.isRemoved == false)
            }
        }
    }

    @Test func `a copy that was moved away comes again, and the moved one stays`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.deliver("a.txt", "one")
            try await bench.withWriterAfterCheck { writer in
                try Folder(at: bench.outbox).rename("a.txt", to: "mine.txt")
                #expect(try await writer.redeliver("a.txt") == 1)
                try await bring(document, bench, writer)
                #expect(try bench.text("a.txt") == "one")
                #expect(try bench.text("mine.txt") == "one")
            }
        }
    }

    @Test func `a copy that was edited comes again beside what the user made of it`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.deliver("a.txt", "one")
            try await bench.withWriterAfterCheck { writer in
                try bench.edit("a.txt", "the user's")
                #expect(try await writer.redeliver("a.txt") == 1)
                try await bring(document, bench, writer)
                #expect(try bench.text("a.txt") == "the user's")
                #expect(try bench.text("a (2).txt") == "one")
                let file = try #require(document.fields.flatMap(FileDocument.init))
                let locations = try await bench.chute.store.read {
                    try $0.locations(of: file.attachment)
                }
                #expect(locations.map(\.path) == ["a (2).txt"])
            }
        }
    }

    @Test func `of a folder what is gone comes again, and nothing beside what was edited`()
        async throws
    {
        try await WriterBench.with { bench in
            let gone = try await bench.deliver("pi/a.txt", "one")
            _ = try await bench.deliver("pi/b.txt", "two")
            _ = try await bench.deliver("pi/c.txt", "three")
            try await bench.withWriterAfterCheck { writer in
                try Folder(at: bench.outbox.appending("pi")).remove("a.txt")
                try bench.edit("pi/b.txt", "the user's")
                #expect(try await writer.redeliver("pi") == 1)
                try await bring(gone, bench, writer)
                #expect(try bench.text("pi/b.txt") == "the user's")
                #expect(try bench.text("pi/b (2).txt") == nil)
            }
        }
    }

    @Test func `a copy that is as it was delivered does not come again`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.deliver("a.txt", "one")
            try await bench.withWriterAfterCheck { writer in
                #expect(try await writer.redeliver("a.txt") == 0)
                let record = try await bench.delivery(of: document)
                #expect(record?.state == .delivered)
            }
        }
    }

    @Test func `a copy that was removed while no agent ran comes again`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.deliver("a.txt", "one")
            try Folder(at: bench.outbox).remove("a.txt")
            #expect(try await bench.writer().redeliver("a.txt") == 1)
            try await bench.withWriter { writer in
                try await bring(document, bench, writer)
                #expect(try bench.text("a.txt") == "one")
            }
        }
    }

    @Test func `copies in an outbox that is not mounted are not asked for again`() async throws {
        try await WriterBench.with { bench in
            let document = try await bench.deliver("a.txt", "one")
            try Folder(at: bench.top).rename("out", to: "away")
            _ = try FolderRoot.establish(at: bench.outbox, use: .init(.outbox, space: nil))
            #expect(try await bench.writer().redeliver("a.txt") == 0)
            #expect(try await bench.delivery(of: document)?.state == .delivered)
        }
    }
}
