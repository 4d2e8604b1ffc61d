import Testing

@testable import DropFolder

struct ReplacedDecisionTests {
    struct Case: Sendable {
        let days: Int64
        var isElsewhere = true
        let decision: ReplacedDecision
    }

    static let cases: [Case] = [
        Case(days: 0, decision: .keep),
        Case(days: 29, decision: .keep),
        Case(days: 30, decision: .remove),
        Case(days: 400, decision: .remove),
        Case(days: 30, isElsewhere: false, decision: .keep),
        // A clock at 9999 or 1970 makes nothing old.
        Case(days: 401, decision: .countAnew),
        Case(days: 2_900_000, decision: .countAnew),
        Case(days: -1, decision: .countAnew),
        Case(days: -20_000, isElsewhere: false, decision: .countAnew),
    ]

    @Test(arguments: cases)
    func `30 days, by a clock that can be believed`(row: Case) {
        let since: Int64 = 1_767_225_599
        let decision = ReplacedDecision.of(
            since: since, now: since + row.days * 86_400, isElsewhere: row.isElsewhere)
        #expect(decision == row.decision)
    }

    @Test func `a time that cannot be told apart is counted anew`() {
        let decision = ReplacedDecision.of(since: .min, now: .max, isElsewhere: true)
        #expect(decision == .countAnew)
    }
}
