/// The attachments that one peer may be asked for, those of higher priority first, else in the
/// order in which they came. A value without I/O or clock.
struct FetchQueue {
    private struct Lane {
        var waiting: [AttachmentID] = []
        /// Those before are taken already.
        var head = 0

        var first: AttachmentID? { head < waiting.count ? waiting[head] : nil }

        mutating func removeFirst() {
            head += 1
            if head > 1024 || head == waiting.count {
                waiting.removeFirst(head)
                head = 0
            }
        }
    }

    private var lanes = FetchPriority.allCases.map { _ in Lane() }
    private var queued: [AttachmentID: FetchPriority] = [:]

    /// Adds an attachment, or moves it ahead where it waits with a lower priority.
    mutating func add(_ attachment: AttachmentID, _ priority: FetchPriority) {
        if let known = queued[attachment], known >= priority { return }
        queued[attachment] = priority
        lanes[priority.rawValue].waiting.append(attachment)
    }

    /// The one that is next; stays until `removeFirst`.
    mutating func first() -> AttachmentID? {
        for priority in FetchPriority.allCases.reversed() {
            while let attachment = lanes[priority.rawValue].first {
                if queued[attachment] == priority { return attachment }
                lanes[priority.rawValue].removeFirst()  // it was moved ahead
            }
        }
        return nil
    }

    mutating func removeFirst() {
        guard let attachment = first(), let priority = queued.removeValue(forKey: attachment)
        else { return }
        lanes[priority.rawValue].removeFirst()
    }
}
