import ChuteSystem

/// Decides after a crash what became of an intent: what to do goes by inode and birth time, not
/// by what was to be done next.
package enum OutboxRecovery {
    /// What lies at a path, as far as recovery has to know.
    package enum Found: Hashable, Sendable {
        case nothing
        case file(CopyFingerprint)
    }

    package struct Observations: Hashable, Sendable {
        package var staged: Found
        package var target: Found
        package var stagingFolderExists: Bool

        package init(staged: Found, target: Found, stagingFolderExists: Bool) {
            self.staged = staged
            self.target = target
            self.stagingFolderExists = stagingFolderExists
        }
    }

    package enum Decision: Hashable, Sendable {
        /// The staged path holds our inode: it never got its name. Steps 3 to 5 again.
        case publishAgain
        /// The target holds our inode: sync its folder and record. `removingStaged` where the
        /// staged name is a second link to it, left by a rename that was `link` and `unlink`.
        case publishedAlready(removingStaged: Bool)
        /// The target holds ours, and what stood there came out into staging as we delivered it:
        /// it goes to `.chute/replaced`, then record.
        case keepReplaced
        /// The target holds ours, and what came out is not what we delivered: exchange back and
        /// stand beside.
        case exchangeBack
        /// Neither path holds ours, and staging is there: the user took the published file away.
        case movedByUser
        /// As `movedByUser`, and a file that is not ours lies at the staged path: it came out of an
        /// exchange whose other side the user took away since. It is kept: as we delivered it, in
        /// `.chute/replaced`, otherwise it gets its name back.
        case movedByUserLeaving(isAsDelivered: Bool)
        /// The staging folder is gone and the target is not ours: nothing is known to be durable.
        case fetchAgain
    }

    /// Decides for an intent whose staged file was `identity`, and which replaces `replaced`, if
    /// anything.
    package static func decide(
        identity: InodeIdentity, replacing replaced: CopyFingerprint?, _ seen: Observations
    ) -> Decision {
        let stagedIsOurs = isOurs(seen.staged, identity)
        if isOurs(seen.target, identity) {
            // Without an exchange nothing of the user's can have come out: it is not touched.
            if case .file(let came) = seen.staged, !stagedIsOurs, replaced != nil {
                return isAsDelivered(came, replaced) ? .keepReplaced : .exchangeBack
            }
            return .publishedAlready(removingStaged: stagedIsOurs)
        }
        if stagedIsOurs { return .publishAgain }
        guard seen.stagingFolderExists else { return .fetchAgain }
        if case .file(let came) = seen.staged, replaced != nil {
            return .movedByUserLeaving(isAsDelivered: isAsDelivered(came, replaced))
        }
        return .movedByUser
    }

    private static func isOurs(_ found: Found, _ identity: InodeIdentity) -> Bool {
        if case .file(let fingerprint) = found { return fingerprint.identity == identity }
        return false
    }

    private static func isAsDelivered(
        _ came: CopyFingerprint, _ replaced: CopyFingerprint?
    ) -> Bool {
        replaced.map(came.isSameButChanged) ?? false
    }
}
