/// A doubt that goes along with a file.
package enum IngestNote: Hashable, Sendable {
    /// The structure ends early, or the head is all zero, and nothing came for ten seconds.
    case possiblyTruncated
    case empty

    /// The code under which `status` lists the file.
    package var reason: SkipReason {
        switch self {
        case .possiblyTruncated: .possiblyTruncated
        case .empty: .empty
        }
    }
}
