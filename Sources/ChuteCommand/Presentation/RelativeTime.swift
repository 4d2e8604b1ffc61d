import DropFolder
import Glibc

extension Timestamp {
    /// The wall clock. Calls `time`.
    static var now: Timestamp { Timestamp(seconds: Int64(time(nil))) }

    /// How long ago this was, in one unit: `5 min ago`.
    func ago(_ now: Timestamp) -> String {
        let (difference, overflow) = now.seconds.subtractingReportingOverflow(seconds)
        guard !overflow, difference >= 0 else { return "at \(self)" }
        switch difference {
        case 0..<60: return "just now"
        case 60..<3600: return "\(difference / 60) min ago"
        case 3600..<86_400: return "\(difference / 3600) h ago"
        case 86_400..<(2 * 86_400): return "1 day ago"
        default: return "\(difference / 86_400) days ago"
        }
    }
}
