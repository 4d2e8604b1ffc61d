import ChuteSystem
import DropFolder
import Testing

private func content(_ letter: String, count: UInt64 = 10) -> InboxContent {
    InboxContent(digest: Array(letter.utf8), byteCount: count)
}

private func file(_ inode: UInt64, birth: Int64 = 1, modified: Int64 = 1) -> FileFingerprint {
    FileFingerprint(
        inode: inode, birth: birth, size: 10, modified: modified, changed: modified)
}

private func row(
    _ path: BytePath, _ letter: String, _ inode: UInt64, absent: Bool = false,
    note: IngestNote? = nil
) -> InboxRow {
    InboxRow(
        path: path, documentID: Array("document of \(path)".utf8), content: content(letter),
        fingerprint: file(inode), note: note, wasSeenAbsent: absent)
}

struct InboxDecisionTests {
    typealias Seen = InboxDecision.Observation
    typealias Known = InboxDecision.Knowledge
    private let documentA = Array("document of a".utf8)

    private func decide(_ seen: Seen, _ known: Known, now: Duration = .seconds(100))
        -> InboxDecision
    {
        InboxDecision.of(seen, knowing: known, now: now)
    }

    // All photos uploaded again after a restart, a new database, new times.
    @Test(arguments: [
        (file(1), NameHistory.Continuity.undisturbed), (file(1, modified: 9), .undisturbed),
        (file(2), .undisturbed), (file(1, birth: 7), .seenAbsent), (file(2), .replacedByRename),
    ])
    func `equal bytes under their name change nothing`(
        file: FileFingerprint, continuity: NameHistory.Continuity
    ) {
        let seen = Seen(
            path: "a", fingerprint: file, content: content("x"), continuity: continuity)
        #expect(decide(seen, Known(here: row("a", "x", 1))) == .unchanged)
        #expect(decide(seen, Known(here: row("a", "x", 1, absent: true))) == .newDocument)
    }

    @Test(arguments: [false, true])
    func `a file on its way out that is back is the row's, also edited`(wasAbsent: Bool) {
        let known = Known(here: row("a", "x", 1, absent: wasAbsent), way: .back)
        var seen = Seen(
            path: "a", fingerprint: file(1), content: content("x"), continuity: .seenAbsent)
        #expect(decide(seen, known) == .unchanged)
        seen.content = content("y")
        #expect(decide(seen, known) == .newVersion(of: documentA))
    }

    @Test(arguments: [false, true])
    func `a file that left after it was read is told only with bytes that nobody has`(
        wasAbsent: Bool
    ) {
        let known = Known(here: row("a", "x", 1, absent: wasAbsent), way: .left)
        var seen = Seen(path: "a", fingerprint: file(1), content: content("x"))
        #expect(decide(seen, known) == .gone)
        seen.content = content("y")
        #expect(decide(seen, known) == (wasAbsent ? .newDocument : .newVersion(of: documentA)))
    }

    private static let versions: [(FileFingerprint, NameHistory.Continuity, Bool, Bool)] = [
        // The same file with other bytes, also when it was edited while nobody looked.
        (file(1, modified: 9), NameHistory.Continuity.undisturbed, false, true),
        // Renamed over the live name; renamed aside and taken again.
        (file(2), .replacedByRename, false, true), (file(2), .takenAgain, false, true),
        // A camera uses the name again.
        (file(2), .seenAbsent, false, false), (file(1, birth: 5), .undisturbed, false, false),
        // The same after the absence was recorded.
        (file(2), .replacedByRename, true, false), (file(1), .undisturbed, true, false),
        // Replaced while the agent was off.
        (file(2), .undisturbed, false, false),
    ]

    @Test(arguments: versions)
    func `other bytes are a version only where the name goes on`(
        file: FileFingerprint, continuity: NameHistory.Continuity, wasAbsent: Bool,
        isVersion: Bool
    ) {
        let seen = Seen(
            path: "a", fingerprint: file, content: content("y"), continuity: continuity)
        let decision = decide(seen, Known(here: row("a", "x", 1, absent: wasAbsent)))
        #expect(decision == (isVersion ? .newVersion(of: documentA) : .newDocument))
    }

    @Test func `another file that no event explains yet is decided a quiet second later`() {
        var seen = Seen(
            path: "a", fingerprint: file(2), content: content("y"), readAt: .seconds(100))
        let known = Known(here: row("a", "x", 1))
        #expect(decide(seen, known, now: .seconds(100)) == .wait(until: .seconds(101)))
        #expect(decide(seen, known, now: .seconds(101)) == .newDocument)
        seen.continuity = .takenAgain
        #expect(decide(seen, known, now: .seconds(100)) == .newVersion(of: documentA))
        seen.continuity = .seenAbsent
        #expect(decide(seen, known, now: .seconds(100)) == .newDocument)
    }

    @Test(arguments: [IngestNote.empty, .possiblyTruncated])
    func `a broken version never replaces a good one`(note: IngestNote) {
        let seen = Seen(path: "a", fingerprint: file(1), content: content("y"), note: note)
        #expect(decide(seen, Known(here: row("a", "x", 1))) == .withheld(note))
        // A broken one it may replace, and on its own it goes out.
        let broken = Known(here: row("a", "x", 1, note: .possiblyTruncated))
        #expect(decide(seen, broken) == .newVersion(of: documentA))
        #expect(decide(seen, Known()) == .newDocument)
    }

    @Test func `a first half is replaced by the whole file`() {
        let seen = Seen(path: "a", fingerprint: file(1, modified: 9), content: content("whole"))
        let half = Known(here: row("a", "half", 1, note: .possiblyTruncated))
        #expect(decide(seen, half) == .newVersion(of: documentA))
    }

    @Test func `a rename is decided after a quiet second`() {
        let seen = Seen(path: "b", fingerprint: file(1, modified: 9), content: content("x"))
        let known = Known(sameFile: [
            .init(row: row("a", "x", 1), state: .absent(since: .seconds(100)))
        ])
        #expect(decide(seen, known, now: .milliseconds(100_500)) == .wait(until: .seconds(101)))
        #expect(
            decide(seen, known, now: .seconds(101))
                == .rename(from: "a", of: documentA, isNewVersion: false))
    }

    @Test func `a rename while the agent was off is told by the file itself`() {
        let seen = Seen(path: "b", fingerprint: file(1), content: content("y"))
        let known = Known(sameFile: [
            .init(row: row("a", "x", 1, absent: true), state: .absent(since: nil))
        ])
        #expect(
            decide(seen, known) == .rename(from: "a", of: documentA, isNewVersion: true))
    }

    // `ln a b`, and what an editor keeps of the former version.
    @Test func `a second name of a file whose first name stands is a new document`() {
        let seen = Seen(path: "b", fingerprint: file(1), content: content("x"))
        let known = Known(sameFile: [.init(row: row("a", "x", 1), state: .occupied)])
        #expect(decide(seen, known) == .newDocument)
    }

    @Test func `an inode number that is used again is not the same file`() {
        let seen = Seen(path: "b", fingerprint: file(1, birth: 2), content: content("x"))
        let known = Known(sameFile: [.init(row: row("a", "x", 1), state: .absent(since: nil))])
        #expect(decide(seen, known) == .newDocument)
    }

    @Test func `without birth times the number proves nothing`() {
        var former = row("a", "x", 1)
        former.fingerprint.birth = 0
        let seen = Seen(path: "a", fingerprint: file(1, birth: 0), content: content("y"))
        #expect(decide(seen, Known(here: former)) == .newDocument)
    }

    @Test(arguments: [(1, 1, true), (2, 1, false), (1, 2, false), (0, 1, false)])
    func `equal bytes tell a rename only between the only two names`(
        gone: Int, new: Int, isRename: Bool
    ) {
        let rows = ["a", "c"].prefix(gone).map { row(BytePath($0), "x", 7) }
        let seen = Seen(path: "b", fingerprint: file(2), content: content("x"))
        let known = Known(vanishedWithContent: Array(rows), newNamesWithContent: new)
        let rename = InboxDecision.rename(from: "a", of: documentA, isNewVersion: false)
        #expect(decide(seen, known) == (isRename ? rename : .newDocument))
    }

    @Test func `empty files are never taken for each other`() {
        var former = row("a", "", 7)
        former.content = content("", count: 0)
        let seen = Seen(
            path: "b", fingerprint: file(2), content: content("", count: 0), note: .empty)
        let known = Known(vanishedWithContent: [former], newNamesWithContent: 1)
        #expect(decide(seen, known) == .newDocument)
    }
}

struct NameHistoryTests {
    private func continuity(
        of path: BytePath, after events: [(NameHistory.Event, Int)]
    ) -> NameHistory.Continuity {
        var history = NameHistory()
        for (event, milliseconds) in events {
            history.handle(event, now: .milliseconds(milliseconds))
        }
        return history.continuity(of: path)
    }

    private static let histories: [([(NameHistory.Event, Int)], NameHistory.Continuity)] = [
        // An editor renames the file aside and writes a new one.
        (
            [
                (NameHistory.Event.movedFrom("a", cookie: 1), 0),
                (.movedTo("a~", cookie: 1), 0), (.created("a"), 20), (.deleted("a~"), 30),
            ], NameHistory.Continuity.takenAgain
        ),
        // A metadata tool does so, and renames its temporary file into place.
        (
            [
                (.movedFrom("a", cookie: 1), 0), (.movedTo("a_original", cookie: 1), 0),
                (.movedFrom("tmp", cookie: 2), 1), (.movedTo("a", cookie: 2), 1),
            ], .takenAgain
        ),
        // A temporary file over the live name.
        ([(.movedTo("a", cookie: 1), 0)], .replacedByRename),
        // Moved out of the inbox, and the name used again.
        ([(.movedFrom("a", cookie: 1), 0), (.created("a"), 20)], .seenAbsent),
        ([(.deleted("a"), 0), (.movedTo("a", cookie: 2), 1)], .seenAbsent),
        // Taken again too late.
        (
            [
                (.movedFrom("a", cookie: 1), 0), (.movedTo("b", cookie: 1), 0),
                (.created("a"), 1500),
            ], .seenAbsent
        ),
        // Once broken, a later rename does not mend it.
        ([(.deleted("a"), 0), (.created("a"), 1), (.movedTo("a", cookie: 2), 2)], .seenAbsent),
        ([(.created("a"), 0)], .undisturbed),
        // Exchanged with another name.
        (
            [
                (.movedFrom("a", cookie: 1), 0), (.movedTo("b", cookie: 1), 0),
                (.movedFrom("b", cookie: 2), 0), (.movedTo("a", cookie: 2), 0),
            ], .takenAgain
        ),
    ]

    @Test(arguments: histories)
    func `continuity follows from the events`(
        events: [(NameHistory.Event, Int)], expected: NameHistory.Continuity
    ) {
        #expect(continuity(of: "a", after: events) == expected)
    }

    @Test func `the second name of an exchange goes on too`() {
        let events: [(NameHistory.Event, Int)] = [
            (.movedFrom("a", cookie: 1), 0), (.movedTo("b", cookie: 1), 0),
            (.movedFrom("b", cookie: 2), 0), (.movedTo("a", cookie: 2), 0),
        ]
        #expect(continuity(of: "b", after: events) == .takenAgain)
    }

    @Test func `a name that stood empty for the quiet second is told once`() {
        var history = NameHistory()
        history.handle(.deleted("a"), now: .zero)
        history.handle(.movedFrom("b", cookie: 1), now: .zero)
        history.handle(.movedTo("b.bak", cookie: 1), now: .zero)
        history.handle(.created("b"), now: .milliseconds(10))
        #expect(history.nextDeadline == .seconds(1))
        #expect(history.absence(of: "a") == .zero && history.absence(of: "b") == nil)
        #expect(history.takeAbsent(now: .milliseconds(999)) == [])
        #expect(history.takeAbsent(now: .seconds(1)) == ["a"])
        #expect(history.takeAbsent(now: .seconds(9)) == [])
    }

    @Test func `a decision that was taken leaves nothing behind`() {
        var history = NameHistory()
        history.handle(.movedTo("a", cookie: 1), now: .zero)
        history.forget("a")
        #expect(history.continuity(of: "a") == .undisturbed)
    }
}
