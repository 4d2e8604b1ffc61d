import Glibc

/// Writes one line per message to standard error.
///
/// Under journald each line begins with its priority in angle brackets, else with nothing. What
/// is not plain text in a message is escaped, so that a file name cannot forge lines.
package struct Log: Sendable {
    package enum Level: Int, Sendable, Comparable {
        // The numbers are syslog's priorities.
        case error = 3
        case warning, notice, info, debug

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The least urgent level that is written.
    package let level: Level
    private let stream: StandardStream
    private let showsPriority: Bool
    private let edit: @Sendable (String) -> String

    /// `edit` is the last word on each message before it is escaped.
    package init(
        level: Level = .notice, stream: StandardStream = .error, showsPriority: Bool,
        edit: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.level = level
        self.stream = stream
        self.showsPriority = showsPriority
        self.edit = edit
    }

    /// A log to standard error that shows priorities if journald reads it.
    package init(
        level: Level = .notice, environment: ProcessEnvironment,
        edit: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.init(
            level: level, showsPriority: Self.journalReads(.error, environment), edit: edit)
    }

    package func error(_ message: @autoclosure () -> String) { write(.error, message) }
    package func warning(_ message: @autoclosure () -> String) { write(.warning, message) }
    package func notice(_ message: @autoclosure () -> String) { write(.notice, message) }
    package func info(_ message: @autoclosure () -> String) { write(.info, message) }
    package func debug(_ message: @autoclosure () -> String) { write(.debug, message) }

    private func write(_ level: Level, _ message: () -> String) {
        guard level <= self.level else { return }
        let prefix = showsPriority ? "<\(level.rawValue)>" : ""
        let line = Array((prefix + Self.escaped(edit(message())) + "\n").utf8)
        // A log that cannot be written stops nobody, and there is no one else to tell.
        _ = line.withUnsafeBytes { Glibc.write(stream.descriptor, $0.baseAddress, $0.count) }
    }

    /// The message on one line: control and bidirectional characters as `\u{N}`.
    package static func escaped(_ message: String) -> String {
        var text = ""
        for scalar in message.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069,
                0xFEFF:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Whether what is written to `stream` goes to journald: `JOURNAL_STREAM` names its device
    /// and inode.
    private static func journalReads(
        _ stream: StandardStream, _ environment: ProcessEnvironment
    ) -> Bool {
        guard let named = environment["JOURNAL_STREAM"]?.string else { return false }
        var status = stat()
        guard fstat(stream.descriptor, &status) == 0 else { return false }
        return named == "\(status.st_dev):\(status.st_ino)"
    }
}
