import ChuteSystem

/// Looks at the configuration file of a home. All calls block.
package struct ConfigurationCheck: Sendable {
    /// What the file says; `nil` where it cannot be used.
    package let configuration: Configuration?
    /// What is wrong with it; empty where it can be used.
    package let problems: [Finding]

    package init(_ home: Home) {
        let file = home.configurationFile
        let found: Result<(Configuration, [ConfigurationProblem]), any Error> = Result {
            let text = try Configuration.text(of: file)
            return (
                try LoadedConfiguration(text, home).configuration,
                try ConfigurationProbe.look(at: text, home, .unknown).problems
            )
        }
        switch found {
        case .success(let (configuration, problems)):
            self.configuration = configuration
            self.problems = problems.map { .wrongConfiguration($0.description(in: file)) }
        case .failure(let error):
            configuration = nil
            problems = Self.findings(error, file)
        }
    }

    private static func findings(_ error: any Error, _ file: BytePath) -> [Finding] {
        if let error = error as? ConfigurationError {
            return error.problems.map { .wrongConfiguration($0.description(in: error.file)) }
        }
        guard let reason = error as? SystemError else {
            return [.wrongConfiguration("\(file):\(TOMLPosition.start): \(error)")]
        }
        if reason.isNotFound {
            return [
                .failed(
                    Finding.configuration, "\(file) is not there",
                    "put it back, or run `chute init`, which makes one with defaults")
            ]
        }
        return [
            .failed(
                Finding.configuration, "\(file) cannot be read: \(reason.reason)",
                reason.isUnwritable
                    ? "let this user read it: sudo chown \"$(id -un)\" and chmod u+r on it, and "
                        + "chmod u+x on the folders that it lies in"
                    : "see that it is a file that can be read")
        ]
    }
}
