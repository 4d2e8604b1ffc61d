import ChuteSystem
import DropFolder

/// `chute doctor`: what works, what does not, and what to do.
struct DoctorCommand: Command {
    static let specification = CommandSpecification(
        name: "doctor", summary: "says of each part whether it works, and what to do if not",
        options: [.init("--json", "as JSON")],
        examples: [
            .init("chute doctor", "ends with 69 where something that is switched on fails"),
            .init("chute doctor --json", "the same for a program"),
        ],
        command: DoctorCommand.self)

    private let isJSON: Bool

    init(_ arguments: ParsedArguments) { isJSON = arguments.has("--json") }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let findings = try await context.agent.examine()
        if isJSON {
            let complete = findings.map { $0.edited(context.hints.complete) }
            try context.output.writeLine(JSONValue.array(complete.map(\.json)).text)
        } else {
            try context.show(text(findings))
        }
        return findings.contains { $0.outcome == .failed } ? .unavailable : .success
    }

    /// One line for each finding; what fails has its remedy in it.
    private func text(_ findings: [Finding]) -> String {
        findings.map { finding in
            let mark =
                switch finding.outcome {
                case .works: "ok    "
                case .failed: "FAILS "
                case .note: "note  "
                }
            let remedy = finding.remedy.isEmpty ? "" : " -> " + finding.remedy
            return mark + Log.escaped("\(finding.check): \(finding.detail)\(remedy)") + "\n"
        }.joined()
    }
}
