/// How all fetches that are under way stand, taken together.
///
/// Those that completed count until none is under way any more, so that it grows to its end.
public struct FetchProgress: Hashable, Sendable {
    /// How many are under way.
    public internal(set) var activeCount = 0
    /// The bytes that are here, of those under way and of those that completed meanwhile.
    public internal(set) var downloadedBytes: UInt64 = 0
    /// All bytes of the same.
    public internal(set) var totalBytes: UInt64 = 0

    /// From 0 to 1; 1 where nothing is to be fetched.
    public var fractionCompleted: Double {
        totalBytes == 0 ? 1 : Double(downloadedBytes) / Double(totalBytes)
    }
}

/// Adds up what becomes of fetches. A value without I/O or clock.
struct FetchTotals {
    private var active: [AttachmentID: UInt64] = [:]
    private var completedBytes: UInt64 = 0

    var progress: FetchProgress {
        FetchProgress(
            activeCount: active.count,
            downloadedBytes: active.values.reduce(completedBytes, Self.sum),
            totalBytes: active.keys.reduce(completedBytes) { Self.sum($0, $1.byteCount) })
    }

    /// How long an attachment is is the word of whoever named it: the sum can be any number.
    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }

    mutating func began(_ attachment: AttachmentID) {
        if active.isEmpty { completedBytes = 0 }
        active[attachment] = active[attachment] ?? 0
    }

    mutating func advanced(_ attachment: AttachmentID, to count: UInt64) {
        guard let done = active[attachment] else { return }
        active[attachment] = max(done, min(count, attachment.byteCount))
    }

    mutating func ended(_ attachment: AttachmentID, isCompleted: Bool) {
        guard active.removeValue(forKey: attachment) != nil, isCompleted else { return }
        completedBytes = Self.sum(completedBytes, attachment.byteCount)
    }
}
