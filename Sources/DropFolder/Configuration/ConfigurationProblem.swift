package import ChuteSystem

/// One thing in a configuration that is wrong or has no effect, and where it stands.
package struct ConfigurationProblem: Hashable, Sendable {
    package let position: TOMLPosition
    /// What it is and what was expected; a sentence without a full stop.
    package let message: String
    /// Each value may be right: it is the folders together that cannot work.
    package let isOverlap: Bool

    package init(position: TOMLPosition, message: String, isOverlap: Bool = false) {
        self.position = position
        self.message = message
        self.isOverlap = isOverlap
    }

    /// `file:line:column: message`, on one line.
    package func description(in file: BytePath) -> String {
        Log.escaped("\(file):\(position): \(message)")
    }
}

/// A configuration that cannot be used; every problem in it, in the order of the file.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: BytePath
    package let problems: [ConfigurationProblem]

    package init(file: BytePath, problems: [ConfigurationProblem]) {
        self.file = file
        self.problems = problems
    }

    /// The configuration of a home that is in the space of a shared key does not name one.
    package static func lostKey(of home: Home) -> ConfigurationError {
        let problem = ConfigurationProblem(
            position: .start,
            message: "[device] has no shared_key any more, and this device is in the space of one: "
                + "put it back, or write shared_key = \"\" to leave that space")
        return ConfigurationError(file: home.configurationFile, problems: [problem])
    }

    package var description: String {
        problems.map { $0.description(in: file) }.joined(separator: "\n")
    }
}
