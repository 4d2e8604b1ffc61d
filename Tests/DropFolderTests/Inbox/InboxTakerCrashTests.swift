import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What each crash on a file's way out of the inbox leaves behind, and what the next start makes
/// of it. Whatever was left, the file is in exactly one place afterwards, whole.
@Suite(.timeLimit(.minutes(1)))
struct InboxTakerCrashTests {
    /// How far the run before came.
    enum Step: CaseIterable, Sendable {
        case recorded, setAside, linkedAside, marked, letGo, backNotRecorded
    }

    /// What the next run is told to do.
    enum Wish: CaseIterable, Sendable { case keep, delete, move, deleteWhatOthersRemoved }

    static let cases = Step.allCases.flatMap { step in Wish.allCases.map { (step, $0) } }

    @Test(arguments: cases)
    func `a crash leaves a file in one place and its row true`(step: Step, wish: Wish) async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let row = try await bench.drop("day/a.txt", "one")
            var record = try await bench.begin(row)
            switch step {
            case .recorded: break
            case .linkedAside:
                let aside = try #require(try TakenFolder(in: bench.inbox))
                let file = try bench.inbox.folder.open("day/a.txt", O_RDONLY)
                try aside.folder.link(file, to: record.name)
            default: try bench.setAside(record)
            }
            if [.marked, .letGo, .backNotRecorded].contains(step) {
                record = try await bench.markLeaving(record)
            }
            let aside = try #require(try TakenFolder(in: bench.inbox))
            if step == .letGo { try aside.remove(record.name) }
            if step == .backNotRecorded { _ = try aside.putBack(record.name, to: record.path) }

            if wish == .deleteWhatOthersRemoved { bench.answers.set(.init(answer: .removed)) }
            let taker =
                switch wish {
                case .keep: bench.taker(.keep)
                case .move: bench.taker(.move(to: bench.target))
                case .delete, .deleteWhatOthersRemoved: bench.taker(.delete)
                }
            try await taker.pass()
            try await taker.pass()

            #expect(try bench.namesAside().isEmpty)
            #expect(try await bench.records().isEmpty)
            #expect(taker.notes.isEmpty)
            let found = try #require(try await bench.row("day/a.txt"))
            let stays = step != .letGo && (wish == .keep || wish == .deleteWhatOthersRemoved)
            #expect(try bench.files() == (stays ? ["day/a.txt": "one"] : [:]))
            #expect(found.isTaken == !stays)
            #expect(found.wasSeenAbsent == !stays)
            if stays {
                let status = try #require(try bench.inbox.folder.status(of: "day/a.txt"))
                #expect(FileFingerprint(status).hasSameContentTimes(as: found.fingerprint))
                // What was not looked at is looked at again.
                let isLookedAt = wish == .deleteWhatOthersRemoved && step == .setAside
                if isLookedAt { #expect(found.fingerprint == FileFingerprint(status)) }
            }
            let moved = try bench.files(in: bench.target)
            #expect(
                moved == (wish == .move && step != .letGo ? ["day/a.txt": "one"] : [:]))
            // Nobody who has none yet loses it.
            #expect(try bench.text(try #require(found.held), in: bench.path) == "one")
        }
    }

    /// How far a move to another file system came.
    enum CopyStep: CaseIterable, Sendable { case staged, noted, published }

    @Test(.enabled(if: OtherFileSystem.isThere, "needs /dev/shm"), arguments: CopyStep.allCases)
    func `a crash in a move to another file system leaves one copy`(step: CopyStep) async throws {
        try await withTemporaryDirectory(in: OtherFileSystem.folder) { other in
            try await withTemporaryDirectory { top in
                let bench = try await TakerBench(at: top, target: other.appending("done"))
                // Made, and known.
                try await bench.taker(.move(to: bench.target)).pass()
                let row = try await bench.drop("day/a.txt", "one")
                var record = try await bench.begin(row)
                try bench.setAside(record)
                record = try await bench.markLeaving(record)
                let target = MoveTarget(
                    try FolderRoot.establish(
                        at: bench.target, use: .init(.afterIngest, space: nil)))
                let aside = try #require(try TakenFolder(in: bench.inbox))
                do {
                    let file = try aside.folder.open(record.name, O_RDONLY)
                    let copy = try target.stage(file, as: record.name)
                    var number = 1
                    record.copy = MovedCopy(
                        path: try target.freeName(for: record.path, from: &number),
                        identity: InodeIdentity(try copy.status()))
                }
                if step != .staged { try await bench.write(record) }
                if step == .published {
                    #expect(try target.publish(record.name, to: "day/a.txt"))
                }
                let taker = bench.taker(.move(to: bench.target))
                try await taker.pass()
                #expect(try bench.files(in: bench.target) == ["day/a.txt": "one"])
                #expect(try Folder(at: bench.target.appending(".chute/moving")).entries() == [])
                #expect(try bench.files().isEmpty)
                #expect(try bench.namesAside().isEmpty)
                #expect(try await bench.records().isEmpty)
                #expect(try await bench.row("day/a.txt")?.isTaken == true)
                let status = try #require(
                    try Folder(at: bench.target).status(of: "day/a.txt"))
                #expect(status.modified == row.fingerprint.modified)
            }
        }
    }

    @Test func `a move to another file system that is not there any more puts the file back`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            try await bench.taker(.move(to: bench.target)).pass()
            let row = try await bench.drop("a.txt", "one")
            try await bench.setAside(bench.begin(row))
            try Folder(at: top).rename("done", to: "away")
            let taker = bench.taker(.move(to: bench.target))
            try await taker.pass()
            #expect(try bench.files() == ["a.txt": "one"])
            #expect(try await bench.records().isEmpty)
            #expect(taker.notes.count == 1)
        }
    }

    @Test(arguments: ["edited", "open for writing"])
    func `what lies aside and is not as it was shared goes back`(how: String) async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let record = try await bench.begin(try await bench.drop("a.txt", "one"))
            try bench.setAside(record)
            let path = bench.path.appending(TakenFolder.path).appending(record.name)
            let writer = try FileDescriptor.open(path, how == "edited" ? O_RDONLY : O_RDWR)
            if how == "edited" {
                try FileDescriptor.open(path, O_WRONLY).write(Array("ONE".utf8), at: 0)
            }
            let taker = bench.taker(.delete)
            try await taker.pass()
            #expect(try bench.files() == ["a.txt": how == "edited" ? "ONE" : "one"])
            #expect(try bench.namesAside().isEmpty)
            #expect(try await bench.row("a.txt")?.isTaken == false)
            _ = writer.raw
        }
    }

    @Test func `a name that was given to another file meanwhile is not taken from it`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let row = try await bench.drop("a.txt", "one")
            try await bench.setAside(bench.begin(row))
            try SampleFiles.write(Array("two".utf8), to: bench.path.appending("a.txt"))
            try await bench.taker(.keep).pass()
            #expect(try bench.files() == ["a.txt": "two", "a (2).txt": "one"])
            // The one with its name is another document; this one is what the row is about.
            let found = try #require(try await bench.row("a.txt"))
            #expect(found.wasSeenAbsent && !found.isTaken)
        }
    }

    @Test func `a folder that was removed meanwhile is made again for what goes back`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let one = try await bench.begin(try await bench.drop("day/a.txt", "one"))
            let two = try await bench.begin(try await bench.drop("night/b.txt", "two"))
            for record in [one, two] { try bench.setAside(record) }
            for name in [BytePath("day"), "night"] { try Folder(at: bench.path).removeFolder(name) }
            // Something else has the name of the second one's folder.
            try SampleFiles.write(Array("three".utf8), to: bench.path.appending("night"))
            try await bench.taker(.keep).pass()
            #expect(
                try bench.files() == ["day/a.txt": "one", "night": "three", "b.txt": "two"])
            #expect(try await bench.records().isEmpty)
        }
    }

    @Test func `a row that is another document's by now is left alone`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let first = try await bench.drop("a.txt", "one")
            let record = try await bench.begin(first)
            try bench.setAside(record)
            let second = try await bench.drop("a.txt", "two")
            try #require(second.document != first.document)
            bench.answers.set(.init(answer: .delivered))
            try await bench.taker(.delete).recoverForTest(in: bench.inbox)
            #expect(try bench.files() == ["a.txt": "two"])
            #expect(try bench.namesAside().isEmpty)
            #expect(try await bench.row("a.txt") == second)
        }
    }

    @Test func `what no row knows goes back under its own name`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let aside = try #require(try TakenFolder(in: bench.inbox))
            let name = TakenFolder.name(of: "day/a.txt", document: [UInt8](repeating: 7, count: 32))
            for name in [name, "stray", ".hidden"] {
                try SampleFiles.write(
                    Array("one".utf8), to: bench.path.appending(TakenFolder.path).appending(name))
            }
            try await bench.taker(.keep).pass()
            #expect(try bench.files() == ["a.txt": "one", "stray": "one", ".hidden": "one"])
            #expect(try aside.folder.entries().isEmpty)
        }
    }

    @Test func `without what is held for others a file goes back`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            bench.answers.set(.init(answer: .delivered), .init())
            let row = try await bench.drop("a.txt", "one")
            let record = try await bench.begin(row, isHeld: true)
            try bench.setAside(record)
            try bench.inbox.folder.remove(try #require(row.held))
            try await bench.taker(.delete).recoverForTest(in: bench.inbox)
            #expect(try bench.files() == ["a.txt": "one"])
            #expect(try await bench.row("a.txt")?.isTaken == false)
        }
    }
}

extension InboxTaker {
    fileprivate func recoverForTest(in inbox: InboxRoot) async throws {
        #expect(try await recover(in: inbox))
    }
}
