package import ChuteSystem
import Synchronization

/// Has a running agent go by its configuration file as that changes.
package final class ConfigurationFollower: Sendable {
    private let home: Home
    private let log: Log
    private let looks = Mailbox<Void>()
    /// What cannot be used, as was said; `nil` while there is nothing.
    private let refused = Mutex<Refusal?>(nil)

    /// Each is said once.
    private enum Refusal: Hashable {
        case text([UInt8])
        /// It cannot even be read, for this reason.
        case unreadable(String)
    }

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
            try await awaitWriter()
            guard let found = load(agent, used) else { continue }
            if isRefused(.text(found.text)) { continue }
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
                try checkKeepsSpace(found, used)
                warn(of: found)
                guard try await agent.apply(found.configuration) else {
                    // No agent ends for what cannot be.
                    try await agent.checkSuccessor(found)
                    return found
                }
                log.notice("goes by the changed configuration")
                used = found
                agent.note(nil)
            } catch {
                refuse(.text(found.text), for: error, agent, used)
            }
        }
        return nil
    }

    /// What the file says; `nil` where that cannot be used, which is said.
    private func load(_ agent: Agent, _ used: LoadedConfiguration) -> LoadedConfiguration? {
        var text: [UInt8]?
        do {
            text = try Configuration.text(of: home.configurationFile)
            return try text.map { try LoadedConfiguration($0, home) }
        } catch {
            var error = error
            if let reason = error as? SystemError, reason.isNotFound {
                error = ConfigurationError(
                    file: home.configurationFile,
                    problems: [.init(position: .start, message: "the file is gone")])
            }
            let refusal = text.map(Refusal.text) ?? .unreadable("\(error)")
            if !isRefused(refusal) { refuse(refusal, for: error, agent, used) }
            return nil
        }
    }

    /// Throws where a change would have this device leave its space without saying so.
    private func checkKeepsSpace(
        _ found: LoadedConfiguration, _ used: LoadedConfiguration
    ) throws {
        let (new, old) = (found.configuration.device, used.configuration.device)
        guard old.sharedKey != nil, new.sharedKey == nil, !new.isPairedOnPurpose else { return }
        throw ConfigurationError.lostKey(of: home)
    }

    /// Waits while a program has the file open for writing: what it has written so far may read as
    /// a configuration with less in it. Not for long, since one may keep it open.
    private func awaitWriter() async throws {
        let end = ContinuousClock.now + Self.writerPatience
        while isBeingWritten(), ContinuousClock.now < end {
            try await Task.pause(for: .milliseconds(50))
        }
    }

    private static let writerPatience = Duration.seconds(1)

    /// `false` where that cannot be told.
    private func isBeingWritten() -> Bool {
        do throws(SystemError) {
            let file = try FileDescriptor.open(
                home.configurationFile, FileDescriptor.readOnlyFollowing)
            guard try file.status().kind == .regular, try FileSystemReach.of(file) == .local else {
                return false
            }
            return LeaseState.probe(file) == .busy
        } catch {
            return false  // whoever reads it says why not
        }
    }

    private func isRefused(_ refusal: Refusal) -> Bool { refused.withLock { $0 == refusal } }

    /// Says that no agent can be opened for `loaded`, and that `agent` goes by `used`; once, until
    /// the file changes.
    package func refuse(
        _ loaded: LoadedConfiguration, for error: any Error, _ agent: Agent,
        _ used: LoadedConfiguration
    ) {
        refuse(.text(loaded.text), for: error, agent, used)
    }

    private func refuse(
        _ refusal: Refusal, for error: any Error, _ agent: Agent, _ used: LoadedConfiguration
    ) {
        refused.withLock { $0 = refusal }
        let problems =
            (error as? ConfigurationError).map { error in
                error.problems.map { $0.description(in: error.file) }
            } ?? ["\(home.configurationFile): \(error)"]
        for problem in problems { log.warning(problem) }
        log.warning("the configuration of before that is used until it is mended")
        agent.note(.init(problems: problems, text: used.text))
    }
}
