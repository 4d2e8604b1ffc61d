/// What a command is called and takes; parsing, help and suggestions all follow from it.
struct CommandSpecification: Sendable {
    var name: String
    /// One line, a statement without a full stop.
    var summary: String
    var operands: [Operand] = []
    var options: [Option] = []
    /// Whole command lines, each with what it does.
    var examples: [Example] = []
    var subcommands: [CommandSpecification] = []
    /// `nil` for a command that only has subcommands.
    var command: (any Command.Type)?

    struct Operand: Sendable {
        /// As help shows it: `TICKET`.
        var name: String
        var isRequired = true
    }

    struct Option: Sendable {
        /// With its dashes: `--name`.
        var name: String
        /// One letter with a dash: `-q`.
        var short: String?
        /// What help calls the value; `nil` for an option without one.
        var value: String?
        var help: String

        init(_ name: String, short: String? = nil, value: String? = nil, _ help: String) {
            self.name = name
            self.short = short
            self.value = value
            self.help = help
        }
    }

    struct Example: Sendable {
        var line: String
        var effect: String

        init(_ line: String, _ effect: String) {
            self.line = line
            self.effect = effect
        }
    }
}
