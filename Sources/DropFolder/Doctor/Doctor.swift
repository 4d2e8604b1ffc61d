package import ChuteKit
import ChuteSystem

/// Says of every part that is switched on whether it works, and what to do where it does not.
package struct Doctor: Sendable {
    /// Whether an agent runs, and what it found.
    package enum Live: Sendable {
        case notRunning
        /// It does not answer, and why.
        case silent(String)
        /// The answer to `AgentRequest.doctor`.
        case answered(Fields)
    }

    private let configuration: Configuration?
    private let home: Home
    private let problems: [Finding]

    /// `configuration` is what the agent goes by, else what the file says; `nil` where neither can
    /// be told: what needs one is left out. `problems` is what is wrong with the file.
    package init(_ configuration: Configuration?, _ home: Home, problems: [Finding] = []) {
        self.configuration = configuration
        self.home = home
        self.problems = problems
    }

    /// All findings. Takes some seconds.
    package func findings(live: Live) async -> [Finding] {
        var findings: [Finding] = []
        switch live {
        case .notRunning:
            findings.append(
                .failed("agent", "does not run", "run `chute run`, or `chute service install`"))
        case .silent(let why):
            findings.append(
                .failed("agent", "runs, and does not answer: \(why)", "look at its log"))
        case .answered(let fields):
            findings.append(.works("agent", "runs"))
            findings += (fields["findings"]?.array ?? []).compactMap(Finding.init).filter {
                // Of the file, what was seen just now has more to say.
                $0.check != Finding.configuration || problems.isEmpty
            }
        }
        findings += problems
        if !findings.contains(where: { $0.check == Finding.configuration }) {
            findings.append(.works(Finding.configuration, "\(home.configurationFile)"))
        }
        if let configuration, configuration.looksForOthersByMulticast {
            async let four = MulticastProbe.run(.v4)
            async let six = MulticastProbe.run(.v6)
            let (probe, probe6) = await (four, six)
            findings.append(SystemChecks.multicast(probe, .v4, other: probe6))
            findings.append(SystemChecks.multicast(probe6, .v6, other: probe))
            let users = MulticastListeners.users()
            if !users.isEmpty {
                findings.append(
                    .note("mDNS programs", "of the users " + users.joined(separator: ", ")))
            }
        }
        let known = configuration ?? Configuration()
        findings.append(SystemChecks.inotify(SystemChecks.inotifyFacts(known)))
        for check in FolderProbe(configuration: known, home: home).checks() {
            findings += check.findings
        }
        return findings + [SystemChecks.types(), SystemChecks.libraries()]
    }
}

extension Configuration {
    var looksForOthersByMulticast: Bool {
        network.transports.contains(.lan) && lan.isEnabled && lan.usesMDNS
    }
}
