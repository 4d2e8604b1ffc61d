import ChuteKit
import ChuteSystem

/// What the scan that is under way has seen, and what the first one after an absence found
/// gone: only there may a rename be told by equal bytes.
struct ScanKnowledge {
    private(set) var isRunning = false
    private(set) var isFirstAfterAbsence = false
    private var seen: Set<BytePath> = []
    /// Rows whose names were gone at the end of the first scan, by their bytes.
    private(set) var vanished: [AttachmentID: [InboxRecord]] = [:]

    mutating func begin(afterAbsence: Bool) {
        isRunning = true
        isFirstAfterAbsence = afterAbsence
        seen = []
        vanished = [:]
    }

    mutating func saw(_ path: BytePath) { if isRunning { seen.insert(path) } }

    func hasSeen(_ path: BytePath) -> Bool { seen.contains(path) }

    mutating func isGone(_ record: InboxRecord) {
        guard isFirstAfterAbsence else { return }
        vanished[record.attachment, default: []].append(record)
    }

    mutating func end() {
        isRunning = false
        seen = []
    }

    /// The new names of that scan are decided: from now on equal bytes mean nothing.
    mutating func forgetVanished() { vanished = [:] }
}
