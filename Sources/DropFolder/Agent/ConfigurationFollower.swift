package import ChuteSystem
import Synchronization

/// Has a running agent go by its configuration file as that changes.
package final class ConfigurationFollower: Sendable {
    private let home: Home
    private let log: Log
    private let looks = Mailbox<Void>()
    /// The text that cannot be used, as was said; `nil` while there is none.
    private let refused = Mutex<[UInt8]?>(nil)

    package init(home: Home, log: Log) {
        self.home = home
        self.log = log
    }

    /// Has it look at the file again because somebody asks for that, from any thread: also one that
    /// could not be used before is tried.
    package func lookAgain() {
        refused.withLock { $0 = nil }
        looks.post(())
    }

    /// Says what of a configuration has no effect.
    package func warn(of loaded: LoadedConfiguration) {
        for notice in loaded.configuration.notices {
            log.warning(notice.description(in: home.configurationFile))
        }
    }

    /// Follows the file until it says something for which another agent has to be opened, which it
    /// returns, or until cancelled. `used` is what `agent` goes by. A file that cannot be used
    /// changes nothing, and is said in the log and by `status`.
    package func follow(
        _ agent: Agent, _ used: LoadedConfiguration
    ) async throws -> LoadedConfiguration {
        try await withThrowingTaskGroup(of: LoadedConfiguration?.self) { group in
            group.addTask {
                let watch = ConfigurationWatch(file: self.home.configurationFile, log: self.log)
                try await watch.run { self.looks.post(()) }
                return nil
            }
            group.addTask { try await self.lookOften(agent, used) }
            defer { group.cancelAll() }
            while let next = try await group.next() {
                if let next { return next }
            }
            throw CancellationError()
        }
    }

    private func lookOften(
        _ agent: Agent, _ used: LoadedConfiguration
    ) async throws -> LoadedConfiguration? {
        var used = used
        while !(await looks.next()).isEmpty {
            let found: LoadedConfiguration
            do {
                guard let loaded = try LoadedConfiguration(home) else {
                    throw ConfigurationError(
                        file: home.configurationFile,
                        problems: [.init(position: .start, message: "the file is gone")])
                }
                found = loaded
            } catch {
                // What cannot even be read is said as well: the error has why.
                let text = (try? Configuration.text(of: home.configurationFile)) ?? []
                if isRefused(text) { continue }  // said before
                refuse(text, for: error, agent, used)
                continue
            }
            if isRefused(found.text) { continue }
            refused.withLock { $0 = nil }
            guard found.text != used.text else {
                agent.note(nil)
                continue
            }
            do {
                guard found.configuration != used.configuration else {
                    used = found
                    agent.note(nil)
                    continue
                }
                warn(of: found)
                guard try await agent.apply(found.configuration) else {
                    try checkFolders()
                    return found
                }
                log.notice("goes by the changed configuration")
                used = found
                agent.note(nil)
            } catch {
                refuse(found.text, for: error, agent, used)
            }
        }
        return nil
    }

    /// Throws what is wrong with the folders, so that no agent ends for what cannot be.
    private func checkFolders() throws {
        let problems = try ConfigurationProbe.look(at: home).problems
        guard problems.isEmpty else {
            throw ConfigurationError(file: home.configurationFile, problems: problems)
        }
    }

    private func isRefused(_ text: [UInt8]) -> Bool { refused.withLock { $0 == text } }

    /// Says that no agent can be opened for `loaded`, and that `agent` goes by `used`; once, until
    /// the file changes.
    package func refuse(
        _ loaded: LoadedConfiguration, for error: any Error, _ agent: Agent,
        _ used: LoadedConfiguration
    ) {
        refuse(loaded.text, for: error, agent, used)
    }

    private func refuse(
        _ text: [UInt8], for error: any Error, _ agent: Agent, _ used: LoadedConfiguration
    ) {
        refused.withLock { $0 = text }
        let problems =
            (error as? ConfigurationError).map { error in
                error.problems.map { $0.description(in: error.file) }
            } ?? ["\(home.configurationFile): \(error)"]
        for problem in problems { log.warning(problem) }
        log.warning("the configuration of before that is used until it is mended")
        agent.note(.init(problems: problems, text: used.text))
    }
}
