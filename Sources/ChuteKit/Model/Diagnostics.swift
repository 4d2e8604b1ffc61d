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
    /// What an engine uses that is not told otherwise.
    let isUnasked: Bool

    /// Hands each message to `handler`, which may be called on any thread and must not block.
    public init(_ handler: @escaping @Sendable (Level, String) -> Void) {
        self.init(isUnasked: false, handler)
    }

    private init(isUnasked: Bool, _ handler: @escaping @Sendable (Level, String) -> Void) {
        self.handler = handler
        self.isUnasked = isUnasked
    }

    /// Says nothing.
    public static let none = Diagnostics { _, _ in }

    /// Writes each warning to standard error, a line each, what is not plain text escaped.
    public static let standardError: Diagnostics = {
        let log = Log(level: .warning, showsPriority: false)
        return Diagnostics(isUnasked: true) { level, message in
            if level == .warning { log.warning("chute: \(message)") }
        }
    }()

    /// As `standardError`, with what is worth a line in a log too: connections that come and go.
    public static let standardErrorNotices: Diagnostics = {
        let log = Log(level: .notice, showsPriority: false)
        return Diagnostics { level, message in
            switch level {
            case .warning: log.warning("chute: \(message)")
            case .notice: log.notice("chute: \(message)")
            default: break
            }
        }
    }()

    func warning(_ message: @autoclosure () -> String) { handler(.warning, message()) }
    func notice(_ message: @autoclosure () -> String) { handler(.notice, message()) }
    func debug(_ message: @autoclosure () -> String) { handler(.debug, message()) }
}
