/// Decides how a group of staged files is made to survive a power cut.
///
/// One `syncfs` is the cheapest way for many files, but waits for other programs' writes too;
/// where it was slow the next groups are synced file by file.
package struct SyncPlan: Hashable, Sendable {
    package enum Method: Hashable, Sendable { case wholeFileSystem, perFile }

    package struct Group: Hashable, Sendable {
        package var count: Int
        /// The size of all members together.
        package var byteCount: UInt64
        /// A member is written anew after a sync error: it is synced alone.
        package var hasRewrite: Bool
        /// The file system is one where `syncfs` pays.
        package var syncsWhole: Bool
        /// A file over `bigSize` is in the group or is being written at this time.
        package var hasBigFile: Bool

        package init(
            count: Int, byteCount: UInt64 = 0, hasRewrite: Bool, syncsWhole: Bool,
            hasBigFile: Bool
        ) {
            self.count = count
            self.byteCount = byteCount
            self.hasRewrite = hasRewrite
            self.syncsWhole = syncsWhole
            self.hasBigFile = hasBigFile
        }
    }

    /// Files over this size never join a group.
    package static let bigSize: UInt64 = 16 << 20
    /// Fewer files than this are synced one by one.
    package static let wholeFrom = 4
    /// What other programs' writes may cost before a `syncfs` is slow.
    package static let slow: Duration = .milliseconds(50)
    /// What the group's own bytes may cost at most: 100 MB/s.
    package static let ownCost: Duration = .nanoseconds(10)
    /// Large groups that go file by file after a slow `syncfs`, before it is tried again.
    package static let pause = 16

    private var pausing = 0

    package init() {}

    package mutating func method(for group: Group) -> Method {
        guard group.count >= Self.wholeFrom, group.syncsWhole, !group.hasRewrite,
            !group.hasBigFile
        else { return .perFile }
        guard pausing > 0 else { return .wholeFileSystem }
        pausing -= 1
        return .perFile
    }

    /// A `syncfs` for a group of so many bytes ended after `time`, failed or not.
    package mutating func wholeFileSystemSynced(_ byteCount: UInt64, in time: Duration) {
        let own = Self.ownCost * Int(clamping: byteCount)
        if time > Self.slow + own { pausing = Self.pause }
    }

    /// Whether these may join one group: rewrites and big files go alone.
    package static func mayShareGroup(size: UInt64, isRewrite: Bool) -> Bool {
        size <= bigSize && !isRewrite
    }
}
