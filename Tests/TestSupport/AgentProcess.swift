package import ChuteSystem
import Glibc
import Synchronization

/// `chute run` of one home.
package struct AgentProcess: Sendable {
    package let home: AgentHome
    private let program: RunningProgram
    /// A task of its own, since several may wait for the end, or nobody.
    private let end: Task<RunningProgram.Finished, any Error>

    /// Starts the agent and waits until `status` says that it runs.
    package init(_ home: AgentHome, _ arguments: [BytePath] = []) async throws {
        self.home = home
        let program = try home.start(["-v", "run"] + arguments)
        let ending = Ending()
        self.program = program
        end = Task {
            let finished = try await program.finished()
            ending.hasCome.withLock { $0 = true }
            return finished
        }
        do {
            try await eventually("the agent of \(home.name) runs") {
                try program.errorSoFar()
            } holds: {
                if ending.hasCome.withLock({ $0 }) {
                    throw AgentHome.Failure(command: ["run"], result: try await end.value)
                }
                return try await home.status().running
            }
        } catch {
            try await kill()
            throw error
        }
    }

    /// Whether the agent has ended, for who does not want to wait for it.
    private final class Ending: Sendable {
        let hasCome = Mutex(false)
    }

    /// What the agent said on standard error so far.
    package var log: String { get throws { try program.errorSoFar() } }

    /// Sends a signal at once; nothing where the agent has ended.
    package func send(signal: Int32) { program.send(signal: signal) }

    /// Waits for the end; how it came.
    package func ended() async throws -> RunningProgram.Finished { try await end.value }

    /// The most memory that the agent has had so far, in bytes: `VmHWM`.
    package func peakMemory() throws -> Int {
        let lines = try program.processFile("status")?.split(separator: "\n") ?? []
        let words = lines.first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: \.isWhitespace)
        guard let words, words.count == 3, let count = Int(words[1]) else {
            throw NeverHappened(what: "a VmHWM of the agent of \(home.name)")
        }
        return count << 10
    }

    /// How many descriptors the agent has open.
    package func descriptorCount() throws -> Int { try program.descriptorCount() }

    /// How often each of the agent's threads went to sleep by itself so far, by id and name.
    package func voluntarySwitches() throws -> [String: Int] {
        var switches: [String: Int] = [:]
        for status in try program.threadFiles("status") {
            func value(_ name: String) -> String? {
                let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":\t") }
                return line.map { String($0.dropFirst(name.count + 2)) }
            }
            guard let name = value("Name"), let id = value("Pid"),
                let count = value("voluntary_ctxt_switches").flatMap({ Int($0) })
            else { throw NeverHappened(what: "a thread's status in \(status)") }
            switches["\(id) \(name)"] = count
        }
        return switches
    }

    /// Ends the agent as a user or the system would; how it ended.
    @discardableResult
    package func stop() async throws -> RunningProgram.Finished {
        program.send(signal: SIGTERM)
        return try await end.value
    }

    /// Ends the agent as a crash would; nothing where it has ended.
    package func kill() async throws {
        program.send(signal: SIGKILL)
        _ = try await end.value
    }
}

/// Runs the agents of these homes while `body` runs, and ends them afterwards.
package func withAgents<Result>(
    _ homes: AgentHome..., body: ([AgentProcess]) async throws -> Result
) async throws -> Result {
    var agents: [AgentProcess] = []
    let result: Result
    do {
        for home in homes { agents.append(try await AgentProcess(home)) }
        result = try await body(agents)
    } catch {
        for agent in agents {
            agent.send(signal: SIGKILL)
            let finished = try await agent.ended()
            // One that had ended by itself says so here.
            print("the agent of \(agent.home.name): \(finished.end)")
            for line in finished.error.split(separator: "\n").suffix(30) { print("  ", line) }
        }
        throw error
    }
    for agent in agents { try await agent.kill() }
    return result
}
