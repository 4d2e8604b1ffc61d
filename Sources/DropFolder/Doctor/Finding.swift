package import ChuteKit

/// What one check of `doctor` found.
package struct Finding: Hashable, Sendable {
    package enum Outcome: String, Sendable {
        case works, failed
        /// Nothing is wrong, and somebody may want to know.
        case note
    }

    /// What was looked at, in a word or two.
    package let check: String
    package let outcome: Outcome
    /// What was found.
    package let detail: String
    /// What to do; empty where nothing has to be done.
    package let remedy: String

    package static func works(_ check: String, _ detail: String) -> Finding {
        Finding(check: check, outcome: .works, detail: detail, remedy: "")
    }

    package static func note(_ check: String, _ detail: String, _ remedy: String = "") -> Finding {
        Finding(check: check, outcome: .note, detail: detail, remedy: remedy)
    }

    package static func failed(_ check: String, _ detail: String, _ remedy: String) -> Finding {
        Finding(check: check, outcome: .failed, detail: detail, remedy: remedy)
    }

    /// The check of `chute.toml`.
    package static let configuration = "configuration"

    /// What is wrong with a configuration file.
    package static func wrongConfiguration(_ problem: String) -> Finding {
        .failed(configuration, problem, "mend it: `chute config check` says more")
    }

    /// The same with other words for a person.
    package func edited(_ edit: (String) -> String) -> Finding {
        Finding(check: check, outcome: outcome, detail: edit(detail), remedy: edit(remedy))
    }

    private init(check: String, outcome: Outcome, detail: String, remedy: String) {
        self.check = check
        self.outcome = outcome
        self.detail = detail
        self.remedy = remedy
    }

    var value: Value {
        .map([
            "check": .string(check), "outcome": .string(outcome.rawValue),
            "detail": .string(detail), "remedy": .string(remedy),
        ])
    }

    package init?(_ value: Value) {
        guard let fields = value.map, let check = fields["check"]?.string,
            let outcome = fields["outcome"]?.string.flatMap(Outcome.init(rawValue:)),
            let detail = fields["detail"]?.string, let remedy = fields["remedy"]?.string
        else { return nil }
        self.init(check: check, outcome: outcome, detail: detail, remedy: remedy)
    }

    package var json: JSONValue {
        .object([
            "check": .string(check), "outcome": .string(outcome.rawValue),
            "detail": .string(detail), "remedy": .string(remedy),
        ])
    }
}
