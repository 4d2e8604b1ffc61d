import DropFolder
import Testing

@Suite struct OutboxRecoveryTests {
    struct Case: Sendable {
        let staged: OutboxRecovery.Found
        let target: OutboxRecovery.Found
        var hasStaging = true
        var replacing: CopyFingerprint?
        let decision: OutboxRecovery.Decision
    }

    private static func print(_ inode: UInt64, birth: Int64 = 1, changed: Int64 = 1)
        -> CopyFingerprint
    {
        CopyFingerprint(
            identity: InodeIdentity(inode: inode, birth: birth), size: 5, modified: 3,
            changed: changed)
    }

    private static let ours = OutboxRecovery.Found.file(print(7))
    private static let old = print(8)
    private static let oldAfterRename = OutboxRecovery.Found.file(print(8, changed: 9))
    private static let users = OutboxRecovery.Found.file(print(9))
    /// The inode number was given to another file.
    private static let reused = OutboxRecovery.Found.file(print(7, birth: 2))

    static let cases: [Case] = [
        Case(staged: ours, target: .nothing, decision: .publishAgain),
        Case(staged: ours, target: users, decision: .publishAgain),
        Case(staged: ours, target: .file(old), replacing: old, decision: .publishAgain),
        Case(
            staged: .nothing, target: ours, decision: .publishedAlready(removingStaged: false)),
        Case(
            staged: .nothing, target: ours, hasStaging: false,
            decision: .publishedAlready(removingStaged: false)),
        Case(staged: ours, target: ours, decision: .publishedAlready(removingStaged: true)),
        Case(staged: oldAfterRename, target: ours, replacing: old, decision: .keepReplaced),
        Case(staged: users, target: ours, replacing: old, decision: .exchangeBack),
        // Nothing was exchanged: what lies in staging was put there later.
        Case(staged: users, target: ours, decision: .publishedAlready(removingStaged: false)),
        Case(staged: users, target: users, decision: .movedByUser),
        Case(staged: .nothing, target: .nothing, decision: .movedByUser),
        Case(staged: .nothing, target: users, decision: .movedByUser),
        Case(staged: .nothing, target: reused, decision: .movedByUser),
        Case(
            staged: oldAfterRename, target: .nothing, replacing: old,
            decision: .movedByUserLeaving(isAsDelivered: true)),
        Case(
            staged: users, target: users, replacing: old,
            decision: .movedByUserLeaving(isAsDelivered: false)),
        Case(staged: .nothing, target: .nothing, hasStaging: false, decision: .fetchAgain),
        Case(staged: .nothing, target: reused, hasStaging: false, decision: .fetchAgain),
    ]

    @Test(arguments: cases)
    func `what lies at the two paths decides`(row: Case) {
        let decision = OutboxRecovery.decide(
            identity: InodeIdentity(inode: 7, birth: 1), replacing: row.replacing,
            .init(
                staged: row.staged, target: row.target, stagingFolderExists: row.hasStaging))
        #expect(decision == row.decision)
    }
}
