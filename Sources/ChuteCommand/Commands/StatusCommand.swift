import ChuteSystem
import DropFolder

/// `chute status`: what is delivered, pending and skipped.
struct StatusCommand: Command {
    static let specification = CommandSpecification(
        name: "status", summary: "says what is delivered, pending and skipped",
        options: [
            .init("--json", "as JSON, schema 1"),
            .init("--watch", "again and again, as it changes"),
        ],
        examples: [
            .init("chute status", "ends with 3 where no agent runs"),
            .init("chute status --watch", "with progress bars; Ctrl-C ends it"),
        ],
        command: StatusCommand.self)

    private let isJSON: Bool
    private let watches: Bool

    init(_ arguments: ParsedArguments) {
        isJSON = arguments.has("--json")
        watches = arguments.has("--watch")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        // An agent may go by what the file said before.
        let isRunning = try await context.agent.isRunning()
        guard try isRunning || context.isSetUp else {
            throw CommandError(
                .notRunning,
                "nothing is set up at \(context.home.configurationFile): run `chute run`")
        }
        guard watches else {
            let report = try await context.agent.status()
            try context.output.write(text(report, context))
            return report.running ? .success : .notRunning
        }
        var isFirst = true
        for try await report in try await context.agent.statusUpdates() {
            let text = text(report, context)
            if context.terminal.isTerminal, !isJSON {
                // Home, each line cleared to its end, then all below.
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                let clear = isFirst ? "\u{1B}[2J" : ""
                try context.output.write(
                    clear + "\u{1B}[H" + lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[J")
            } else {
                try context.output.write((isFirst || isJSON ? "" : "\n") + text)
            }
            isFirst = false
        }
        return .success
    }

    private func text(_ report: StatusReport, _ context: CommandContext) -> String {
        if isJSON { return report.json.text + "\n" }
        let text = StatusText(
            report: report, terminal: context.terminal, now: .now,
            userFolder: context.home.userFolder
        ).text
        return context.hints.complete(text)
    }
}
