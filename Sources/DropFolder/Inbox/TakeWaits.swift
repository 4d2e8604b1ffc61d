import ChuteKit
import ChuteSystem

/// Files that could go and stay for now, why, and when each is looked at again.
struct TakeWaits {
    enum Reason: Hashable, Sendable {
        /// Somebody writes it.
        case busy
        /// Whether somebody writes it cannot be told.
        case unknown
        /// No copy can be held for those who have no receipt yet.
        case notHeld
        /// Nobody who had it says now that it is there still.
        case unconfirmed
        /// It is not what was shared, by a second look.
        case changed
        case failed(String)

        var words: String {
            switch self {
            case .busy: "somebody has it open for writing"
            case .unknown: "whether somebody writes it cannot be told here"
            case .notHeld: "not all members have it, and no second copy can be held for them"
            case .unconfirmed:
                "no device that is connected has confirmed that it has it as it was sent"
            case .changed: "it is not what was shared"
            case .failed(let what): what
            }
        }
    }

    private struct Wait {
        let path: BytePath
        let reason: Reason
        let until: ContinuousClock.Instant
        let pause: Duration
    }

    private var waits: [DocumentID: Wait] = [:]

    var isEmpty: Bool { waits.isEmpty }

    func isDue(_ document: DocumentID, _ now: ContinuousClock.Instant) -> Bool {
        waits[document].map { $0.until <= now } ?? true
    }

    /// `true` where that was not known. Each time in a row the pause gets longer.
    mutating func add(
        _ document: DocumentID, _ path: BytePath, _ reason: Reason, _ now: ContinuousClock.Instant
    ) -> Bool {
        let known = waits[document]
        // Who is asked may come back at any time; a disk in trouble is better left alone.
        let longest = Duration.seconds(reason == .unconfirmed ? 60 : 300)
        let pause = known.map { min($0.pause * 2, longest) } ?? .seconds(10)
        waits[document] = Wait(path: path, reason: reason, until: now + pause, pause: pause)
        return known?.reason != reason
    }

    /// It has left.
    mutating func remove(_ document: DocumentID) { waits[document] = nil }

    /// Forgets all others.
    mutating func keepOnly(_ documents: Set<DocumentID>) {
        waits = waits.filter { documents.contains($0.key) }
    }

    /// A sentence for each reason, with how many files and one of them.
    var sentences: [String] {
        let byReason = Dictionary(grouping: waits.values, by: \.reason.words)
        return byReason.sorted { $0.key < $1.key }.map { reason, waits in
            let first = waits.map(\.path).min() ?? ""
            let more = waits.count > 1 ? " and \(waits.count - 1) more stay" : " stays"
            return "\(first)\(more): \(reason)"
        }
    }
}
