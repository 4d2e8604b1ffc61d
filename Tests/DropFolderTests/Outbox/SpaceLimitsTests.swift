import Testing

@testable import DropFolder

struct SpaceLimitsTests {
    struct Case: Sendable {
        let limits: SpaceLimits
        let usage: SpaceLimits.Usage
        /// The largest file that may be promised, and why a larger one waits.
        let fits: UInt64
        var reason = SkipReason.noSpace
    }

    static let cases: [Case] = [
        Case(limits: .init(minFree: 0), usage: .init(free: 100), fits: 100),
        Case(limits: .init(minFree: 30), usage: .init(free: 100), fits: 70),
        Case(limits: .init(minFree: 100), usage: .init(free: 100), fits: 0),
        Case(limits: .init(minFree: 101), usage: .init(free: 100), fits: 0),
        Case(limits: .init(minFree: 0), usage: .init(free: 100, hasNames: false), fits: 0),
        // What is on its way is not there for others.
        Case(limits: .init(minFree: 30), usage: .init(free: 100, unwritten: 60), fits: 10),
        Case(limits: .init(minFree: 30), usage: .init(free: 100, unwritten: .max), fits: 0),
        Case(
            limits: .init(minFree: 0, maxTotal: 50), usage: .init(free: 100, held: 20),
            fits: 30, reason: .overQuota),
        Case(
            limits: .init(minFree: 0, maxTotal: 50),
            usage: .init(free: 100, unwritten: 10, held: 20, promised: 25), fits: 5,
            reason: .overQuota),
        // Written, yet not delivered: it counts against the measure, no longer against the disk.
        Case(
            limits: .init(minFree: 0, maxTotal: 50),
            usage: .init(free: 10, unwritten: 0, held: 0, promised: 25), fits: 10),
        Case(
            limits: .init(minFree: 0, maxTotal: 50), usage: .init(free: 100, held: 60),
            fits: 0, reason: .overQuota),
    ]

    @Test(arguments: cases)
    func `what is promised is less than what is free`(row: Case) {
        var budget = row.limits.budget(row.usage)
        #expect(budget.reason == row.reason)
        let answers = [row.fits + 1, row.fits, 1].map { budget.take($0) }
        #expect(answers == [false, true, false])
    }

    @Test func `what was promised before and is given back can be taken`() {
        var budget = SpaceBudget(available: 3, reason: .noSpace)
        budget.giveBack(5)
        let answers = [9, 8, 1].map { budget.take($0) }
        #expect(answers == [false, true, false])
        #expect(budget.used == 8)
        #expect(budget.left == 0)
    }
}
