/// Why a command did not do what it was told: one sentence that says what, where, and what to do.
struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    let code: ExitCode
    let message: String

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    var description: String { message }

    static func usage(_ message: String) -> CommandError { CommandError(.usage, message) }
}
