/// Decides what may be fetched for other devices, and what of it goes. A value without I/O or
/// clock; times are seconds since 1970.
struct RelayLedger: Sendable {
    private struct Entry {
        /// All bytes are here; else they are being fetched.
        var isHere = false
        /// When it was asked for, came or was given last.
        var used: UInt64
        /// When bytes came last.
        var progressed: UInt64
        var servedByteCount: UInt64 = 0
        /// The time of its last use is not kept yet.
        var isNews = false
    }

    /// The most bytes of all entries together, those on their way too.
    static let defaultByteLimit: UInt64 = 1 << 30
    /// What nobody asked for in this time goes.
    static let lifetime: UInt64 = 24 * 3600
    /// For so long what came waits for whoever wanted it, whatever else is asked for; and what is
    /// fetched waits for its next byte.
    static let patience: UInt64 = 600
    private static let openLimit = 256

    private(set) var byteLimit: UInt64
    private(set) var byteCount: UInt64 = 0
    private var openCount = 0
    private var entries: [AttachmentID: Entry] = [:]

    init(byteLimit: UInt64 = defaultByteLimit) { self.byteLimit = byteLimit }

    var attachments: [AttachmentID] { Array(entries.keys) }

    func contains(_ attachment: AttachmentID) -> Bool { entries[attachment] != nil }

    func isHere(_ attachment: AttachmentID) -> Bool { entries[attachment]?.isHere ?? false }

    func takes(_ attachment: AttachmentID) -> Bool {
        attachment.byteCount > 0 && attachment.byteCount <= byteLimit
    }

    mutating func limit(byteCount: UInt64) { byteLimit = byteCount }

    /// What is here since an earlier run.
    mutating func add(_ attachment: AttachmentID, used: UInt64) {
        insert(
            attachment,
            Entry(
                isHere: true, used: used, progressed: used,
                servedByteCount: attachment.byteCount))
    }

    /// Makes room for an attachment that is fetched from here on, and says what has to go for it,
    /// the least recently used first; `nil` where there is none.
    ///
    /// What was not given yet to whom it was fetched for stays: asking for ever more costs this
    /// device no more than its limit.
    mutating func admit(_ attachment: AttachmentID, now: UInt64) -> [AttachmentID]? {
        guard takes(attachment), !contains(attachment), openCount < Self.openLimit else {
            return nil
        }
        var evicted: [AttachmentID] = []
        var room = byteLimit > byteCount ? byteLimit - byteCount : 0
        let over = byteCount > byteLimit ? byteCount - byteLimit : 0
        let needed = attachment.byteCount + over
        for (candidate, entry) in entries.sorted(by: { $0.value.used < $1.value.used }) {
            if room >= needed { break }
            let isGiven = entry.servedByteCount >= candidate.byteCount
            guard entry.isHere, isGiven || now >= entry.used + Self.patience else { continue }
            evicted.append(candidate)
            room += candidate.byteCount
        }
        guard room >= needed else { return nil }
        for candidate in evicted { remove(candidate) }
        insert(attachment, Entry(used: now, progressed: now))
        return evicted
    }

    mutating func progressed(_ attachment: AttachmentID, now: UInt64) {
        entries[attachment]?.progressed = now
    }

    /// All bytes are here now.
    mutating func came(_ attachment: AttachmentID, now: UInt64) {
        remove(attachment)
        insert(attachment, Entry(isHere: true, used: now, progressed: now, isNews: true))
    }

    mutating func served(_ byteCount: Int, of attachment: AttachmentID, now: UInt64) {
        guard var entry = entries[attachment] else { return }
        entry.servedByteCount += UInt64(byteCount)
        (entry.used, entry.isNews) = (max(entry.used, now), true)
        entries[attachment] = entry
    }

    /// It was asked for again.
    mutating func touch(_ attachment: AttachmentID, now: UInt64) {
        guard let used = entries[attachment]?.used else { return }
        entries[attachment]?.used = max(used, now)
        entries[attachment]?.isNews = true
    }

    mutating func remove(_ attachment: AttachmentID) {
        guard let entry = entries.removeValue(forKey: attachment) else { return }
        byteCount -= attachment.byteCount
        if !entry.isHere { openCount -= 1 }
    }

    /// What has to go now: unused for a day, not coming any more, or over the limit.
    func due(now: UInt64) -> [AttachmentID] {
        var due = Set(
            entries.filter { _, entry in
                entry.isHere
                    ? now >= entry.used + Self.lifetime : now >= entry.progressed + Self.patience
            }.keys)
        var left = byteCount - due.reduce(0) { $0 + $1.byteCount }
        let rest = entries.filter { !due.contains($0.key) }
            .sorted {
                ($1.value.isHere ? 1 : 0, $0.value.used) < ($0.value.isHere ? 1 : 0, $1.value.used)
            }
        for (attachment, _) in rest where left > byteLimit {
            due.insert(attachment)
            left -= attachment.byteCount
        }
        return Array(due)
    }

    /// When those were used last of which that is not kept yet.
    mutating func takeNews() -> [AttachmentID: UInt64] {
        let news = entries.filter { $0.value.isNews && $0.value.isHere }.mapValues(\.used)
        for attachment in news.keys { entries[attachment]?.isNews = false }
        return news
    }

    private mutating func insert(_ attachment: AttachmentID, _ entry: Entry) {
        remove(attachment)
        entries[attachment] = entry
        byteCount += attachment.byteCount
        if !entry.isHere { openCount += 1 }
    }
}
