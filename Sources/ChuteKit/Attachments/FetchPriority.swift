/// Which fetches go first: one of a higher priority overtakes all that is queued, but not what
/// has been asked of a peer already.
public enum FetchPriority: Int, CaseIterable, Comparable, Sendable {
    /// After all others.
    case low
    /// As what the drop folder fetches.
    case normal
    /// Before all others.
    case high

    /// Whether `left` goes after `right`.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
