import ChuteSystem
import Glibc
import Synchronization

/// An Avahi daemon of a test, with the D-Bus that it answers on.
package final class AvahiDaemon: Sendable {
    private let host: MDNSHost
    private let bus: RunningProgram
    /// `nil` while there is none.
    private let daemon = Mutex<RunningProgram?>(nil)

    /// Starts both, and waits until the daemon answers.
    init(on host: MDNSHost) async throws {
        self.host = host
        bus = try host.startBus()
        do {
            try await eventually("D-Bus of \(host.network.namespace)") {
                try bus.errorSoFar()
            } holds: {
                host.hasBus
            }
            try await start()
        } catch {
            try await stop()
            throw error
        }
    }

    /// Starts the daemon, where it was ended, and waits until it answers.
    package func start() async throws {
        let started = try host.startAvahi()
        daemon.withLock { $0 = started }
        try await eventually("the Avahi daemon of \(host.network.namespace)") {
            try started.errorSoFar()
        } holds: {
            try started.errorSoFar().contains("Server startup complete")
        }
    }

    /// Ends the daemon as a crash would; its D-Bus stays.
    package func kill() async throws {
        guard let ended = daemon.withLock({ $0.take() }) else { return }
        ended.send(signal: SIGKILL)
        _ = try await ended.finished()
    }

    /// Ends both.
    func stop() async throws {
        try await kill()
        bus.send(signal: SIGKILL)
        _ = try await bus.finished()
    }
}
