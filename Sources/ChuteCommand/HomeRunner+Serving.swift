import ChuteKit
import ChuteSystem
import DropFolder

/// One agent after the other, as the configuration changes.
extension HomeRunner {
    /// Runs an agent until it is stopped: `nil`; or until the configuration, which is returned,
    /// asks for another one.
    func serve(
        _ agent: Agent, _ configuration: LoadedConfiguration, _ follower: ConfigurationFollower,
        _ stop: StopRequest, _ notifier: ServiceNotifier
    ) async throws -> LoadedConfiguration? {
        try await withThrowingTaskGroup(of: LoadedConfiguration?.self) { group in
            group.addTask {
                try await agent.run {
                    notifier.ready()
                    notifier.status("running")
                }
                return nil
            }
            group.addTask {
                await stop.wait()
                return nil
            }
            group.addTask { try await follower.follow(agent, configuration) }
            if let interval = notifier.watchdogInterval {
                group.addTask {
                    while true {
                        try await agent.proveAlive()
                        notifier.alive()
                        try await Task.pause(for: interval * 2 / 3, tolerance: interval / 3)
                    }
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Opens an agent for another configuration; where it cannot be, one for that of before, which
    /// is said.
    func open(
        _ next: LoadedConfiguration, insteadOf old: LoadedConfiguration,
        _ follower: ConfigurationFollower
    ) async throws -> (Agent, LoadedConfiguration) {
        do {
            let agent = try await openWhenFree(next.configuration, false)
            log.notice("goes by the changed configuration")
            return (agent, next)
        } catch let error where !(error is CancellationError) {
            let agent = try await openWhenFree(old.configuration, false)
            follower.refuse(next, for: error, agent, old)
            return (agent, old)
        }
    }
}
