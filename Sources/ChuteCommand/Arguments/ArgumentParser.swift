import ChuteSystem
import DropFolder

/// Reads a command line by the command table.
struct ArgumentParser {
    enum Outcome {
        case command(any Command.Type, ParsedArguments)
        /// Help was asked for; the names that lead to the command, which is the last.
        case help([CommandSpecification])
        case version
    }

    /// The command and its parents, `chute` first.
    private var chain = [CommandTable.root]
    private var parsed = ParsedArguments()

    private var current: CommandSpecification { chain[chain.count - 1] }
    private var name: String { chain.map(\.name).joined(separator: " ") }

    /// Parses the arguments without the program's name.
    static func parse(_ arguments: [BytePath]) throws -> Outcome {
        var parser = ArgumentParser()
        return try parser.parse(arguments)
    }

    private mutating func parse(_ arguments: [BytePath]) throws -> Outcome {
        var rest = arguments[...]
        var wantsHelp = false
        var onlyOperands = false
        while let argument = rest.popFirst() {
            if onlyOperands || argument == "-" || argument.bytes.first != UInt8(ascii: "-") {
                if !onlyOperands, chain.count == 1, argument == "help" {
                    wantsHelp = true
                } else {
                    try take(operand: argument)
                }
            } else if argument == "--" {
                onlyOperands = true
            } else {
                try take(option: argument, &rest)
            }
        }
        if wantsHelp || parsed.has("--help") { return .help(chain) }
        if parsed.has("--version") { return .version }
        parsed.path = chain.dropFirst().map(\.name)
        guard let command = current.command else {
            let known = current.subcommands.map(\.name).joined(separator: ", ")
            throw CommandError.usage("\(name) needs a command, one of \(known)")
        }
        if let missing = current.operands.dropFirst(parsed.operands.count).first, missing.isRequired
        {
            throw CommandError.usage(
                "\(name) needs \(missing.name): see `\(name) --help`")
        }
        return .command(command, parsed)
    }

    private mutating func take(operand: BytePath) throws {
        if parsed.operands.isEmpty,
            let next = current.subcommands.first(where: { BytePath($0.name) == operand })
        {
            chain.append(next)
        } else if parsed.operands.count < current.operands.count {
            parsed.operands.append(operand)
        } else if current.subcommands.isEmpty {
            throw CommandError.usage("\(name) does not take \"\(operand)\": see `\(name) --help`")
        } else {
            throw CommandError.usage(
                "\(name) knows no command \"\(operand)\"" + suggestion(for: operand))
        }
    }

    private func suggestion(for operand: BytePath) -> String {
        let word = operand.description
        let said = chain.dropFirst().map(\.name) + [word.lowercased()]
        if let meant = CommandTable.synonyms[said.joined(separator: " ")] {
            return ": did you mean "
                + meant.map { "`chute \($0)`" }.joined(separator: " or ") + "?"
        }
        let known = current.subcommands.map(\.name)
        if let near = Spelling.nearest(to: word, among: known) {
            return ": did you mean `\(name) \(near)`?"
        }
        return ": see `\(name) --help`"
    }

    private mutating func take(option argument: BytePath, _ rest: inout ArraySlice<BytePath>) throws
    {
        let known = CommandTable.globalOptions + current.options
        let bytes = argument.bytes
        guard bytes.starts(with: [UInt8(ascii: "-"), UInt8(ascii: "-")]) else {
            for letter in bytes.dropFirst() {
                let short = "-" + String(decoding: [letter], as: UTF8.self)
                guard let option = known.first(where: { $0.short == short }) else {
                    throw unknown(argument, among: known)
                }
                parsed.counts[option.name, default: 0] += 1
            }
            return
        }
        let equals = bytes.firstIndex(of: UInt8(ascii: "="))
        let given = BytePath(bytes: bytes[..<(equals ?? bytes.endIndex)])
        guard let option = known.first(where: { BytePath($0.name) == given }) else {
            throw unknown(given, among: known)
        }
        guard let value = option.value else {
            if equals != nil { throw CommandError.usage("\(option.name) takes no value") }
            parsed.counts[option.name, default: 0] += 1
            return
        }
        guard parsed.values[option.name] == nil else {
            throw CommandError.usage("\(option.name) is given twice, expected once")
        }
        if let equals {
            parsed.values[option.name] = BytePath(bytes: bytes[(equals + 1)...])
        } else if let next = rest.first, !known.contains(where: { BytePath($0.name) == next }) {
            parsed.values[option.name] = next
            rest.removeFirst()
        } else {
            throw CommandError.usage("\(option.name) needs a value: \(option.name) \(value)")
        }
    }

    private func unknown(
        _ option: BytePath, among known: [CommandSpecification.Option]
    ) -> CommandError {
        let word = option.description
        if let near = Spelling.nearest(to: word, among: known.map(\.name)) {
            return .usage("\(name) knows no option \(word): did you mean \(near)?")
        }
        return .usage("\(name) knows no option \(word): see `\(name) --help`")
    }
}
