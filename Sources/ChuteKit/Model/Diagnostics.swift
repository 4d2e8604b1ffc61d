import ChuteSystem

/// Where an engine says what a person may want to know. Never contents of files.
public struct Diagnostics: Sendable {
    /// How much it matters.
    public enum Level: Sendable {
        /// Something is wrong that a person should look at.
        case warning
        /// Worth a line in a log.
        case notice
        /// For whoever looks for a fault.
        case debug
    }

    private let handler: @Sendable (Level, String) -> Void

    /// Hands each message to `handler`, which may be called on any thread and must not block.
    public init(_ handler: @escaping @Sendable (Level, String) -> Void) { self.handler = handler }

    /// Says nothing.
    public static let none = Diagnostics { _, _ in }

    /// Writes each warning to standard error, a line each, what is not plain text escaped.
    public static let standardError: Diagnostics = {
        let log = Log(level: .warning, showsPriority: false)
        return Diagnostics { level, message in
            if level == .warning { log.warning("chute: \(message)") }
        }
    }()

    func warning(_ message: @autoclosure () -> String) { handler(.warning, message()) }
    func notice(_ message: @autoclosure () -> String) { handler(.notice, message()) }
    func debug(_ message: @autoclosure () -> String) { handler(.debug, message()) }
}
