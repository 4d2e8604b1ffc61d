import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// A file that comes back out of `.chute/taken/` can be read by the ingestor before its row says
/// so again: it is the document that it was.
@Suite(.timeLimit(.minutes(1)))
struct TakenBackTests {
    /// What the rows said when the file came back.
    enum Row: CaseIterable, Sendable {
        case setAside
        /// It lay aside for longer than the quiet second.
        case seenAbsent
        /// Its leaving was recorded, and a crash came before it left.
        case leaving
    }

    static let cases = Row.allCases.flatMap { row in
        [NameHistory.Continuity.undisturbed, .replacedByRename, .seenAbsent].map { (row, $0) }
    }

    @Test(arguments: cases)
    func `a file that comes back before its row is no second document`(
        row: Row, continuity: NameHistory.Continuity
    ) async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let record = try await bench.setAside(bench.drop("a.txt", "one"), row)
            let aside = try #require(try TakenFolder(in: bench.inbox))
            #expect(try aside.putBack(record.name, to: record.path) == "a.txt")
            try await bench.ingest("a.txt", continuity)
            try await bench.taker(.keep).pass()
            #expect(try await bench.ownDocuments() == [record.document])
            let found = try #require(try await bench.row("a.txt"))
            #expect(found.document == record.document)
            #expect(!found.isTaken && !found.wasSeenAbsent)
            #expect(try await bench.records().isEmpty)
        }
    }

    @Test(arguments: Row.allCases)
    func `a file that comes back under another name is renamed, no second document`(
        row: Row
    ) async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let record = try await bench.setAside(bench.drop("a.txt", "one"), row)
            try SampleFiles.write(Array("two".utf8), to: bench.path.appending("a.txt"))
            let aside = try #require(try TakenFolder(in: bench.inbox))
            #expect(try aside.putBack(record.name, to: record.path) == "a (2).txt")
            try bench.inbox.folder.remove("a.txt")  // so quick that nothing was read of it
            try await bench.ingest("a (2).txt", .seenAbsent)
            try await bench.taker(.keep).pass()
            #expect(try await bench.ownDocuments() == [record.document])
            let found = try #require(try await bench.row("a (2).txt"))
            #expect(found.document == record.document)
            #expect(!found.isTaken && !found.wasSeenAbsent)
        }
    }

    // Its settling and the next pass of the taker come at the same time.
    @Test(arguments: [nil] + Row.allCases)
    func `a file that was read before it left is no second document`(
        row state: Row?
    ) async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let row = try await bench.drop("a.txt", "one")
            let file = try bench.read("a.txt")
            let taker = bench.taker(.delete)
            if let state {
                try await bench.setAside(row, state)
            } else {
                try await taker.pass()
            }
            try await bench.ingest("a.txt", .seenAbsent, file)
            try await taker.pass()
            #expect(try await bench.ownDocuments() == [row.document])
            let found = try #require(try await bench.row("a.txt"))
            #expect(found.isTaken && found.wasSeenAbsent)
            #expect(try bench.text(try #require(found.held), in: bench.path) == "one")
        }
    }

    @Test func `a file that was taken and is dropped again is another document`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let row = try await bench.drop("a.txt", "one")
            try await bench.taker(.move(to: bench.target)).pass()
            try Folder(at: bench.target).renameExclusively(
                "a.txt", to: "a.txt", in: bench.inbox.folder)
            try await bench.ingest("a.txt", .seenAbsent)
            #expect(try await bench.row("a.txt")?.document != row.document)
        }
    }

    @Test func `another file under the name of one that lies aside is another document`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let record = try await bench.setAside(bench.drop("a.txt", "one"), .leaving)
            try SampleFiles.write(Array("two".utf8), to: bench.path.appending("a.txt"))
            try await bench.ingest("a.txt", .seenAbsent)
            let found = try #require(try await bench.row("a.txt"))
            #expect(found.document != record.document)
        }
    }
}

extension TakerBench {
    /// Sets a file aside, with what the rows say by then.
    @discardableResult
    fileprivate func setAside(
        _ dropped: InboxRecord, _ state: TakenBackTests.Row
    ) async throws -> TakeRecord {
        let record = try await begin(dropped)
        try setAside(record)
        switch state {
        case .setAside: break
        case .seenAbsent:
            try await chute.store.write { transaction in
                var row = dropped
                row.wasSeenAbsent = true
                try transaction.put(row)
            }
        case .leaving: return try await markLeaving(record)
        }
        return record
    }

    /// Reads a file and records it as the ingestor does.
    fileprivate func ingest(
        _ name: BytePath, _ continuity: NameHistory.Continuity, _ readBefore: IngestedFile? = nil
    ) async throws {
        let file = try readBefore ?? read(name)
        var history = NameHistory()
        switch continuity {
        case .replacedByRename: history.handle(.movedTo(name, cookie: 1), now: .zero)
        case .seenAbsent:
            history.handle(.missing(name), now: .zero)
            history.handle(.created(name), now: .zero)
        default: break
        }
        let (before, emptyNames) = (history, Set<BytePath>(["a.txt"]).subtracting([name]))
        try await chute.store.write { transaction in
            let writer = writing(transaction)
            let here = try writer.row(at: name)
            // After the quiet second, when nothing is waited for any more.
            let decision = try writer.decide(
                file, at: here, history: before, emptyNames: emptyNames, vanished: [],
                newNames: 1, now: .seconds(2))
            _ = try writer.write(file, decision, over: here)
        }
    }

    fileprivate func ownDocuments() async throws -> [DocumentID] {
        try await chute.store.read {
            try $0.documents(in: "pics", idPrefix: [], limit: 16).map(\.id)
        }
    }
}
