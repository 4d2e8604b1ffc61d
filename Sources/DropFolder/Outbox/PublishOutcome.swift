package import ChuteSystem
import Glibc

/// What became of an item.
package enum PublishOutcome: Hashable, Sendable {
    /// It has its name, and that survives a power cut.
    case published(PublishedCopy)
    /// A file of the same bytes was there: it is the copy now, and the user's own if we had not
    /// delivered it.
    case adopted(DeliveredCopy)
    case failed(PublishFailure)
}

/// A copy that got its name.
package struct PublishedCopy: Hashable, Sendable {
    package var copy: DeliveredCopy
    /// The user took it away before it could be looked at.
    package var isGone = false
    /// Where the version before went, below the outbox; `nil` where nothing was replaced.
    package var replaced: DeliveredCopy?

    package init(copy: DeliveredCopy, isGone: Bool = false, replaced: DeliveredCopy? = nil) {
        self.copy = copy
        self.isGone = isGone
        self.replaced = replaced
    }
}

/// Why an item was not published.
package struct PublishFailure: Error, Hashable, Sendable {
    package enum Reason: String, Sendable {
        case notMounted = "not-mounted"
        case noSpace = "no-space"
        case nameRefused = "name-refused"
        /// A sync failed, or the staged file is not what it was: discard it and write it anew,
        /// as `.rewritten`. The same bytes are never synced twice.
        case mustRewrite = "must-rewrite"
        /// The folder is read-only, or the system refused in another way: see `error`. Later
        /// it may work. Not one of the reason codes for files: it concerns the folder.
        case refused = "unwritable"
    }

    package let reason: Reason
    package let error: SystemError?

    package init(_ reason: Reason, _ error: SystemError? = nil) {
        self.reason = reason
        self.error = error
    }

    /// The reason that a failed call on the outbox stands for.
    package init(_ error: SystemError) {
        let reason: Reason =
            switch error.code {
            case ENOSPC, EDQUOT: .noSpace
            case ENAMETOOLONG, EILSEQ, EINVAL: .nameRefused
            default: .refused
            }
        self.init(reason, error)
    }
}
