import ChuteKit
import ChuteSystem
import Glibc
import TestSupport
import Testing

/// What is said of an agent that has its home and has not opened its folders yet.
@Suite(.timeLimit(.minutes(2)))
struct StartingTests {
    private func withHome(_ body: (AgentHome, BytePath) async throws -> Void) async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", FreePort.pair().0.address)
            // The lock file says "running" from now on, unless the next one says otherwise.
            try await withAgents(home) { agents in _ = try await agents[0].stop() }
            try await body(home, home.path.appending("state"))
        }
    }

    @Test func `an agent does not count as running before its folders are open`() async throws {
        try await withHome { home, state in
            let lock = try DirectoryLock(state)
            #expect(try await !home.status().running)
            let result = try await home.chute("status")
            #expect(result.exitCode == 3)
            #expect(result.output.contains("about to start"))
            withExtendedLifetime(lock) {}
        }
    }

    @Test func `run waits for who does not say yet what it does`() async throws {
        try await withHome { home, state in
            var lock: DirectoryLock? = try DirectoryLock(state)
            #expect(lock != nil)
            let program = try home.start(["-v", "run"])
            do {
                try await eventually("it waits") {
                    try program.errorSoFar().contains("waits for another `chute`")
                }
                lock = nil
                try await eventually("it runs") { try await home.status().running }
            } catch {
                program.send(signal: SIGKILL)
                throw error
            }
            program.send(signal: SIGTERM)
            let result = try await program.finished()
            #expect(result.exitCode == 0, "\(result.error)")
        }
    }
}
