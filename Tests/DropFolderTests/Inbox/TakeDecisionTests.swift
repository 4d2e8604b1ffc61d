import ChuteSystem
import DropFolder
import Testing

@Suite struct TakeDecisionTests {
    private typealias Other = TakeDecision.Other

    /// Answers of members that take the collection.
    private func decide(_ answers: TakeDecision.Answer?...) -> TakeDecision {
        TakeDecision.of(.init(others: answers.map { Other(answer: $0) }))
    }

    @Test func `a file goes once another member has it and keeps it`() {
        #expect(decide() == .stay(.onlyCopy))
        #expect(decide(nil) == .stay(.onlyCopy))
        #expect(decide(.removed) == .stay(.onlyCopy))
        #expect(decide(.refused, .notWanted) == .stay(.onlyCopy))
        #expect(decide(.removed, nil) == .stay(.onlyCopy))
        #expect(decide(.delivered) == .take(needsHeld: false))
        #expect(decide(.removed, .delivered) == .take(needsHeld: false))
        #expect(decide(.delivered, .refused, .notWanted) == .take(needsHeld: false))
    }

    @Test func `a receipt is not enough where its device does not say that it still has it`() {
        let silent = Other(answer: .delivered, hasItStill: false)
        #expect(TakeDecision.of(.init(others: [silent])) == .stay(.unconfirmed))
        #expect(
            TakeDecision.of(.init(others: [silent, Other(answer: .removed)]))
                == .stay(.unconfirmed))
        #expect(
            TakeDecision.of(.init(others: [silent, Other(answer: .delivered)]))
                == .take(needsHeld: false))
    }

    @Test func `for a member without a receipt it must be held, if that takes it`() {
        #expect(decide(.delivered, nil) == .take(needsHeld: true))
        let sender = Other(takes: false, answer: nil)
        #expect(
            TakeDecision.of(.init(others: [Other(answer: .delivered), sender]))
                == .take(needsHeld: false))
        // A copy is a copy, whatever its holder says that it takes.
        #expect(
            TakeDecision.of(.init(others: [Other(takes: false, answer: .delivered)]))
                == .take(needsHeld: false))
    }

    @Test func `who is no member counts for nothing`() {
        let former = Other(isMember: false, answer: .delivered)
        #expect(TakeDecision.of(.init(others: [former])) == .stay(.onlyCopy))
        let absent = Other(isMember: false, answer: nil)
        #expect(
            TakeDecision.of(.init(others: [absent, Other(answer: .delivered)]))
                == .take(needsHeld: false))
    }

    @Test func `what is gone, in doubt or not what is shared stays`() {
        let has = [Other(answer: .delivered)]
        #expect(TakeDecision.of(.init(isHere: false, others: has)) == .stay(.gone))
        #expect(TakeDecision.of(.init(hasDoubt: true, others: has)) == .stay(.inDoubt))
        #expect(TakeDecision.of(.init(isCurrent: false, others: has)) == .stay(.notCurrent))
    }

    private let shared = FileFingerprint(inode: 1, birth: 2, size: 3, modified: 4, changed: 5)

    @Test func `only a file as it was shared that nobody writes is free`() {
        func look(
            _ found: FileFingerprint?, isRegular: Bool = true, _ lease: LeaseState = .free
        ) -> TakeLook {
            TakeLook.of(found, isRegular: isRegular, expected: shared, lease: lease)
        }
        #expect(look(shared) == .free)
        #expect(look(shared, .busy) == .busy)
        #expect(look(shared, .unknown) == .unknown)
        #expect(look(nil) == .missing)
        #expect(look(shared, isRegular: false) == .changed)
        var other = shared
        other.changed = 9  // our own link or rename
        #expect(look(other) == .free)
        for part in [\FileFingerprint.modified, \.birth] {
            other = shared
            other[keyPath: part] += 1
            #expect(look(other) == .changed)
        }
        for part in [\FileFingerprint.inode, \.size] {
            other = shared
            other[keyPath: part] += 1
            #expect(look(other) == .changed)
        }
    }

    private struct Row: CustomTestStringConvertible, Sendable {
        let isLeaving: Bool
        let aside: UInt64?
        let inPlace: UInt64?
        let expected: TakeRecovery

        init(_ isLeaving: Bool, _ aside: UInt64?, _ inPlace: UInt64?, _ expected: TakeRecovery) {
            (self.isLeaving, self.aside) = (isLeaving, aside)
            (self.inPlace, self.expected) = (inPlace, expected)
        }

        var testDescription: String {
            "leaving \(isLeaving), aside \(aside ?? 0), in place \(inPlace ?? 0)"
        }
    }

    /// File 1 is the one that was taken, 2 another one.
    private static let rows = [
        Row(false, 1, nil, .resume), Row(true, 1, nil, .resume),
        Row(false, 1, 2, .resume), Row(true, 1, 2, .resume),
        Row(false, 2, nil, .resume), Row(true, 2, 1, .resume),
        Row(false, 1, 1, .dropSecondName), Row(true, 1, 1, .dropSecondName),
        Row(false, nil, 1, .restore), Row(true, nil, 1, .restore),
        Row(false, nil, nil, .forget), Row(false, nil, 2, .forget),
        Row(true, nil, nil, .done), Row(true, nil, 2, .done),
    ]

    @Test(arguments: rows) private func `where the file is says what to do about it`(row: Row) {
        func identity(_ number: UInt64) -> InodeIdentity { .init(inode: number, birth: 7) }
        #expect(
            TakeRecovery.of(
                isLeaving: row.isLeaving, aside: row.aside.map(identity),
                inPlace: row.inPlace.map(identity), expected: identity(1)) == row.expected)
    }
}
