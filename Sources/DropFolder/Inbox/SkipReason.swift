/// Why a file is not shared, or shared with a doubt. A fixed set: scripts match on the text.
package enum SkipReason: String, Hashable, Sendable, CaseIterable {
    case typeRefused = "type-refused"
    case tooLarge = "too-large"
    case ignored
    case hidden
    case notRegular = "not-regular"
    case symlink
    case unreadable
    case busy
    case changing
    case possiblyTruncated = "possibly-truncated"
    case empty
    case existing
    case nameRefused = "name-refused"
    case alreadyShared = "already-shared"
    case noSpace = "no-space"
    case overQuota = "over-quota"
    case notMounted = "not-mounted"
    /// The outbox is there and may not be written.
    case unwritable
    /// No connected device has its bytes.
    case noSource = "no-source"
    case watchLimit = "watch-limit"
    case hashMismatch = "hash-mismatch"
    case clock
}
