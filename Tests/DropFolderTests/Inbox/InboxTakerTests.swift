import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

@Suite(.timeLimit(.minutes(1)))
struct InboxTakerTests {
    private func withBench(
        in target: BytePath? = nil, _ body: (TakerBench) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { top in
            try await body(try await TakerBench(at: top, target: target))
        }
    }

    @Test func `what another member has is deleted, and its row says that it was taken`()
        async throws
    {
        try await withBench { bench in
            try await bench.drop("day/a.txt", "one")
            try await bench.drop("b.txt", "two")
            try await bench.taker(.delete).pass()
            #expect(try bench.files().isEmpty)
            #expect(try bench.namesAside().isEmpty)
            let row = try #require(try await bench.row("day/a.txt"))
            #expect(row.isTaken && row.wasSeenAbsent)
            // Who is missing still gets it: retention lets it go, not this.
            let held = try #require(row.held)
            #expect(try bench.text(held, in: bench.path) == "one")
            #expect(try await bench.records().isEmpty)
        }
    }

    @Test func `what is moved keeps its path, and replaces nothing`() async throws {
        try await withBench { bench in
            try Folder.make(bench.target.appending("day"))
            try SampleFiles.write(Array("mine".utf8), to: bench.target.appending("day/a.txt"))
            try SampleFiles.write(Array("a file".utf8), to: bench.target.appending("night"))
            try await bench.drop("day/a.txt", "one")
            try await bench.drop("night/b.txt", "two")
            try await bench.taker(.move(to: bench.target)).pass()
            #expect(try bench.files().isEmpty)
            #expect(
                try bench.files(in: bench.target) == [
                    "day/a.txt": "mine", "day/a (2).txt": "one", "night": "a file",
                    "night (2)/b.txt": "two",
                ])
        }
    }

    @Test func `nothing happens without a peer that has it and keeps it`() async throws {
        try await withBench { bench in
            let row = try await bench.drop("a.txt", "one")
            for answer in [nil, .removed, .refused, .notWanted] as [TakeDecision.Answer?] {
                bench.answers.set(.init(answer: answer))
                try await bench.taker(.delete).pass()
                #expect(try bench.files() == ["a.txt": "one"])
            }
            #expect(try await bench.row("a.txt") == row)
        }
    }

    @Test(arguments: ["edited", "replaced", "open for writing", "a link", "in doubt", "keep"])
    func `a file that is not as it was shared stays as it is`(how: String) async throws {
        try await withBench { bench in
            try await bench.drop("a.txt", "one")
            let path = bench.path.appending("a.txt")
            let file = try FileDescriptor.open(path, how == "open for writing" ? O_RDWR : O_RDONLY)
            switch how {
            case "edited": try FileDescriptor.open(path, O_WRONLY).write(Array("ONE".utf8), at: 0)
            case "replaced", "a link":
                try Folder(at: bench.path).remove("a.txt")
                if how == "replaced" { try SampleFiles.write(Array("new".utf8), to: path) }
                if how == "a link" { symlink("/etc/hostname", path.string ?? "") }
            case "in doubt":
                let key = folderKey(bench.record.root, "a.txt")
                try await bench.chute.store.write { transaction in
                    guard var row = try transaction.row(InboxRecord.self, key) else { return }
                    row.note = .possiblyTruncated
                    try transaction.put(row)
                }
            default: break
            }
            let before = try FileStatus.of(path)
            let taker = bench.taker(how == "keep" ? .keep : .delete)
            try await taker.pass()
            #expect(try FileStatus.of(path) == before)
            #expect(try await bench.row("a.txt")?.isTaken == false)
            #expect(try await bench.records().isEmpty)
            #expect(taker.notes.isEmpty == (how != "open for writing"))
            _ = file.raw
        }
    }

    // The times of a file can be set: only its bytes say what it is.
    @Test func `other bytes under the same times go back under their name`() async throws {
        try await withBench { bench in
            let row = try await bench.drop("day/a.txt", "one")
            let path = bench.path.appending("day/a.txt")
            do {
                let file = try FileDescriptor.open(path, O_WRONLY)
                try file.write(Array("ONE".utf8), at: 0)
                try file.setModified(row.fingerprint.modified)
            }
            try await bench.taker(.delete).pass()
            #expect(try bench.files() == ["day/a.txt": "ONE"])
            let found = try #require(try await bench.row("day/a.txt"))
            #expect(!found.isTaken)
            // So the next scan hashes it again, where there are no events.
            let status = try #require(try bench.inbox.folder.status(of: "day/a.txt"))
            #expect(found.fingerprint != FileFingerprint(status))
            #expect(try await bench.records().isEmpty)
        }
    }

    @Test func `what a member has no receipt for is held anew, or stays`() async throws {
        try await withBench { bench in
            bench.answers.set(.init(answer: .delivered), .init())
            let row = try await bench.drop("a.txt", "one")
            try bench.inbox.folder.remove(try #require(row.held))
            try await bench.drop("b.txt", "two", isHeld: false)
            try await bench.taker(.delete).pass()
            #expect(try bench.files().isEmpty)
            for (name, text) in [(BytePath("a.txt"), "one"), ("b.txt", "two")] {
                let row = try #require(try await bench.row(name))
                let held = try #require(row.held)
                #expect(try bench.text(held, in: bench.path) == text)
                let locations = try await bench.chute.store.read {
                    try $0.locations(of: row.attachment)
                }
                #expect(locations.map(\.path) == [held])
            }
        }
    }

    @Test func `an inbox without a mark keeps its files and says so`() async throws {
        try await withBench { bench in
            try await bench.drop("a.txt", "one")
            let taker = bench.taker(.delete, isMarked: false)
            try await taker.pass()
            #expect(try bench.files() == ["a.txt": "one"])
            #expect(taker.notes.count == 1)
        }
    }

    @Test func `a folder to move to is made once and waited for when it is gone`() async throws {
        try await withBench { bench in
            let taker = bench.taker(.move(to: bench.target.appending("deep")))
            try await taker.pass()
            #expect(try Folder(at: bench.target).status(of: "deep") != nil)
            try Folder(at: bench.top).rename("done", to: "away")
            try await bench.drop("a.txt", "one")
            for _ in 0..<2 {
                try await taker.pass()
                #expect(try bench.files() == ["a.txt": "one"])
                #expect(try Folder(at: bench.top).status(of: "done") == nil)
                #expect(taker.notes.count == 1)
            }
            try Folder(at: bench.top).rename("away", to: "done")
            try await taker.pass()
            #expect(taker.notes.isEmpty)
            #expect(try bench.files(in: bench.target) == ["deep/a.txt": "one"])
        }
    }

    @Test(arguments: ["in the inbox", "around it", "through a link"])
    func `nothing is moved within the inbox`(how: String) async throws {
        try await withBench { bench in
            try await bench.drop("a.txt", "one")
            symlink("inbox", bench.top.appending("link").string ?? "")
            let target =
                switch how {
                case "in the inbox": bench.path.appending("done")
                case "around it": bench.top
                default: bench.top.appending("link/done")
                }
            let taker = bench.taker(.move(to: target))
            try await taker.pass()
            #expect(try bench.files() == ["a.txt": "one"])
            #expect(taker.notes.count == 1)
        }
    }

    @Test func `a file that is dropped again under another name is no rename`() async throws {
        try await withBench { bench in
            let first = try await bench.drop("a.txt", "one")
            try await bench.taker(.move(to: bench.target)).pass()
            try Folder(at: bench.target).rename("a.txt", to: "../inbox/b.txt")
            let status = try #require(try bench.inbox.folder.status(of: "b.txt"))
            #expect(InodeIdentity(status).inode == first.fingerprint.inode)
            let file = IngestedFile(
                path: "b.txt", fingerprint: FileFingerprint(status),
                attachment: first.attachment, layer: [], note: nil, type: "text/plain",
                mode: 0o644, readAt: .zero)
            let decision = try await bench.chute.store.write { transaction in
                try bench.writing(transaction).decide(
                    file, at: nil, history: NameHistory(), emptyNames: ["a.txt"], vanished: [],
                    newNames: 1, now: .seconds(100))
            }
            #expect(decision == .newDocument)
        }
    }
}
