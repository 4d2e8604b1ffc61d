/// What `--help` prints.
enum HelpText {
    /// Help on the last command of `chain`; the ones before it are its parents.
    static func text(_ chain: [CommandSpecification]) -> String {
        let name = chain.map(\.name).joined(separator: " ")
        guard let command = chain.last else { return "" }
        var usage = "Usage: \(name)"
        if !command.subcommands.isEmpty {
            usage += command.command == nil ? " COMMAND" : " [COMMAND]"
        }
        if !command.options.isEmpty { usage += " [OPTIONS]" }
        for operand in command.operands {
            usage += operand.isRequired ? " \(operand.name)" : " [\(operand.name)]"
        }
        var sections = ["\(name): \(command.summary)", usage]
        if !command.subcommands.isEmpty {
            sections.append(
                "Commands:\n" + rows(command.subcommands.map { ($0.name, $0.summary) }))
        }
        if !command.options.isEmpty {
            sections.append("Options:\n" + rows(command.options.map { (label($0), $0.help) }))
        }
        sections.append(
            "Everywhere:\n" + rows(CommandTable.globalOptions.map { (label($0), $0.help) }))
        if !command.examples.isEmpty {
            sections.append("Examples:\n" + rows(command.examples.map { ($0.line, $0.effect) }))
        }
        return sections.joined(separator: "\n\n") + "\n"
    }

    private static func label(_ option: CommandSpecification.Option) -> String {
        let name = option.short.map { "\($0), \(option.name)" } ?? option.name
        return option.value.map { "\(name) \($0)" } ?? name
    }

    private static func rows(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).filter { $0 <= 34 }.max() ?? 0
        return rows.map { label, text in
            label.count <= width
                ? "  \(label)\(String(repeating: " ", count: width - label.count))  \(text)"
                : "  \(label)\n  \(String(repeating: " ", count: width))  \(text)"
        }.joined(separator: "\n")
    }
}
