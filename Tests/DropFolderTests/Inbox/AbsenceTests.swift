import DropFolder
import Testing

/// Who has been away for so long that nothing is held back for it.
struct AbsenceTests {
    private let day: UInt64 = 86_400

    @Test func `a member is absent after 60 days without a word`() {
        let now = 1000 * day
        #expect(!Absence.isAbsent(lastHeard: now, now: now))
        #expect(!Absence.isAbsent(lastHeard: now - 60 * day, now: now))
        #expect(Absence.isAbsent(lastHeard: now - 60 * day - 1, now: now))
    }

    @Test func `neither a new member nor a clock that went back makes anybody absent`() {
        #expect(!Absence.isAbsent(lastHeard: nil, now: 1000 * day))
        #expect(!Absence.isAbsent(lastHeard: 1000 * day, now: 0))
    }
}
