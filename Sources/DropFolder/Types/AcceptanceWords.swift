/// How a limit is told to users as the reason for a file that is not taken. The words say by which
/// limit it was judged: where the limits are others by now, it is judged anew.
enum AcceptanceWords {
    static func refused(_ type: MIMEType, by patterns: [MIMEPattern]) -> String {
        "\(type), \(accepted(patterns))"
    }

    static func tooLarge(_ byteCount: UInt64, limit: UInt64) -> String {
        "\(byteCount) bytes, \(atMost(limit))"
    }

    /// Whether a file was refused, with these words, by limits that are not in force any more.
    static func isOutOfDate(
        _ reason: SkipReason?, _ words: String, accept: [[MIMEPattern]], maxSize: UInt64?
    ) -> Bool {
        switch reason {
        case .typeRefused: !accept.contains { words.hasSuffix(", " + accepted($0)) }
        case .tooLarge: !(maxSize.map { words.hasSuffix(", " + atMost($0)) } ?? false)
        default: false
        }
    }

    private static func accepted(_ patterns: [MIMEPattern]) -> String {
        "accepted: " + patterns.map(\.description).joined(separator: ", ")
    }

    private static func atMost(_ limit: UInt64) -> String { "at most \(limit)" }
}
