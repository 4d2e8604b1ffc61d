package import ChuteKit
import ChuteSystem

/// Says of every part that is switched on whether it works, and what to do where it does not.
package struct Doctor: Sendable {
    private let configuration: Configuration
    private let home: Home

    package init(_ configuration: Configuration, _ home: Home) {
        self.configuration = configuration
        self.home = home
    }

    /// All findings. `live` is the answer to `AgentRequest.doctor`; `nil` where no agent runs.
    /// Takes some seconds.
    package func findings(live: Fields?) async -> [Finding] {
        var findings: [Finding] = []
        if let live {
            findings.append(.works("agent", "runs"))
            findings += (live["findings"]?.array ?? []).compactMap(Finding.init)
        } else {
            findings.append(
                .failed("agent", "does not run", "run `chute run`, or `chute service install`"))
        }
        if usesMulticast {
            findings.append(SystemChecks.multicast(await MulticastProbe.run(), configuration))
            let users = MulticastListeners.users()
            if !users.isEmpty {
                findings.append(
                    .note("mDNS programs", "of the users " + users.joined(separator: ", ")))
            }
        }
        findings.append(SystemChecks.inotify(SystemChecks.inotifyFacts(configuration)))
        for check in FolderProbe(configuration: configuration, home: home).checks() {
            findings += check.findings
        }
        return findings + [SystemChecks.types(), SystemChecks.libraries()]
    }

    private var usesMulticast: Bool {
        configuration.network.transports.contains(.lan) && configuration.lan.isEnabled
            && configuration.lan.usesMDNS
    }
}
