import ChuteKit
import ChuteSystem
import DropFolder

/// Runs the agent of a home in this process: in the foreground, or for as long as a command
/// needs it.
struct HomeRunner: Sendable {
    let home: Home
    let log: Log

    /// What is configured; throws where nothing is set up.
    func configuration() throws -> Configuration { try loaded().configuration }

    private func loaded() throws -> LoadedConfiguration {
        let loaded: LoadedConfiguration?
        do { loaded = try LoadedConfiguration(home) } catch let error as SystemError {
            throw CommandError(.configuration, "the configuration cannot be read: \(error)")
        }
        guard let found = loaded else {
            throw CommandError(
                .configuration,
                "nothing is set up at \(home.configurationFile): run `chute init`")
        }
        return found
    }

    func run(moved: Bool) async throws -> ExitCode {
        // Before anything is held.
        let follower = ConfigurationFollower(home: home, log: log)
        let signals = try SignalSequence([.terminate, .interrupt, .hangup])
        var configuration = try loaded()
        follower.warn(of: configuration)
        let notifier = ServiceNotifier()
        var agent = try await openWhenFree(configuration.configuration, moved)
        let stop = StopRequest()
        let watchdog = WatchdogFeeding(interval: notifier.watchdogInterval) { notifier.alive() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await signal in signals {
                    if signal == .hangup { follower.lookAgain() } else { stop.make() }
                }
            }
            defer { group.cancelAll() }
            while true {
                try mark(.running)
                log.notice("\(configuration.configuration.deviceName) runs, \(home.stateFolder)")
                let next = try await serve(agent, configuration, follower, stop, notifier)
                guard let next, !stop.isMade else {
                    notifier.stopping()
                    return .success
                }
                let (ended, old) = (agent, configuration)
                (agent, configuration) = try await watchdog.during {
                    try await ended.close()
                    return try await open(next, insteadOf: old, follower)
                }
            }
        }
    }

    /// Waits up to a minute for a command that holds the lock, or for who does not say yet what
    /// it is, and says so.
    func openWhenFree(
        _ configuration: Configuration, _ moved: Bool
    ) async throws -> Agent {
        let deadline = ContinuousClock.now + .seconds(60)
        var hasSaid = false
        while true {
            do {
                return try await Agent.open(
                    home: home, configuration: configuration, isMoved: moved, log: log)
            } catch let error as ChuteError
                where error.code == .heldElsewhere && ContinuousClock.now < deadline
            {
                if use() == .running { throw CommandError.told(error) }
                if !hasSaid { log.notice("waits for another `chute` on this home to end") }
                hasSaid = true
                try await Task.pause(for: .milliseconds(200))
            } catch { throw CommandError.told(error) }
        }
    }

    /// What holds the lock, as it says in the lock file. All are of one length.
    private enum Holder: String { case command, running }

    /// What this home is used for right now.
    enum Use {
        case none
        /// Somebody has the lock and does not say yet what for: folders are still opened.
        case opening
        /// A command that needs the agent for a moment.
        case command
        case running
    }

    /// Looks at the lock and at what its holder says.
    func use() -> Use {
        guard DirectoryLock.isHeld(in: home.stateFolder) else { return .none }
        do throws(SystemError) {
            let file = try FileDescriptor.open(home.lockFile, FileDescriptor.readOnly)
            let said = try file.read(count: Holder.command.rawValue.utf8.count, at: 0)
            return switch Holder(rawValue: String(decoding: said, as: UTF8.self)) {
            case .command: .command
            case .running: .running
            case nil: .opening
            }
        } catch {
            return .opening
        }
    }

    /// Opens the agent for `body`, and where it `runs`, runs it until `body` ends.
    func withAgent<Result: Sendable>(
        runs: Bool, _ body: @escaping @Sendable (Agent) async throws -> Result
    ) async throws -> Result {
        let agent: Agent
        do {
            agent = try await Agent.open(home: home, configuration: configuration(), log: log)
            try mark(.command)
        } catch { throw CommandError.told(error) }
        guard runs else { return try await body(agent) }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await agent.run()
                return nil
            }
            group.addTask { try await body(agent) }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else {
                throw CommandError(.failed, "the agent ended before the command was done")
            }
            return result
        }
    }

    private func mark(_ holder: Holder) throws(SystemError) {
        let file = try FileDescriptor.open(home.lockFile, FileDescriptor.readWrite)
        try file.write(Array(holder.rawValue.utf8), at: 0)
    }
}
