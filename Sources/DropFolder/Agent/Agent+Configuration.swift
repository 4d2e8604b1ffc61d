import ChuteKit
import Synchronization

/// Another configuration while the agent runs.
extension Agent {
    struct Current: Sendable {
        var configuration: Configuration
        /// Why the file is not what the agent goes by, and what it goes by; `nil` while it is.
        var trouble: Trouble?
    }

    /// A configuration file that cannot be used.
    package struct Trouble: Hashable, Sendable {
        /// What is wrong, each with its place.
        package let problems: [String]
        /// The text of the configuration that is used instead.
        package let text: [UInt8]

        package init(problems: [String], text: [UInt8]) {
            self.problems = problems
            self.text = text
        }
    }

    /// Says from now on that the file is not what the agent goes by; `nil` that it is.
    package func note(_ trouble: Trouble?) { current.withLock { $0.trouble = trouble } }

    /// Goes by another configuration from now on, as far as nothing has to be opened anew for it:
    /// transports, limits and this device's name. `false`, and nothing is changed, where another
    /// agent has to take the place of this one.
    package func apply(_ new: Configuration) async throws -> Bool {
        let old = configuration
        guard old.isServed(byAgentOf: new) else { return false }
        try await chute.use(new.chuteNetwork)
        current.withLock { $0.configuration = new }
        if old.deviceName != new.deviceName { try await publishProfile() }
        return true
    }
}

extension Configuration {
    /// Whether an agent that was opened with this one can go over to the other as it is.
    func isServed(byAgentOf new: Configuration) -> Bool {
        folders == new.folders && store == new.store && device.sharedKey == new.device.sharedKey
            && peers.map(\.filing) == new.peers.map(\.filing)
    }
}

extension PeerSettings {
    /// What the outboxes go by.
    fileprivate var filing: PeerSettings {
        var filing = PeerSettings(id: id)
        (filing.accept, filing.maxSize, filing.maxTotal) = (accept, maxSize, maxTotal)
        return filing
    }
}
