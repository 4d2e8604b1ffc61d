import ChuteSystem

/// A command line that fits its command: values are bytes until somebody wants text.
struct ParsedArguments: Sendable {
    /// The names of the command and its subcommand.
    var path: [String] = []
    var values: [String: BytePath] = [:]
    /// How often each option without a value was given.
    var counts: [String: Int] = [:]
    var operands: [BytePath] = []

    func has(_ option: String) -> Bool { counts[option] != nil || values[option] != nil }

    /// The value of an option as bytes, for paths.
    func bytes(_ option: String) -> BytePath? { values[option] }

    /// The value of an option as text.
    func text(_ option: String) throws -> String? {
        try values[option].map { try Self.text($0, of: option) }
    }

    /// The operand at `index` as text.
    func text(at index: Int) throws -> String {
        try Self.text(operands[index], of: "the argument")
    }

    private static func text(_ bytes: BytePath, of what: String) throws -> String {
        if let text = bytes.string { return text }
        throw CommandError.usage("\(what) is not UTF-8: \(bytes)")
    }
}
