import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Folders that appear after the agent has started, and two agents that mean the same ones.
@Suite(.timeLimit(.minutes(3)))
struct LateFolderTests {
    private func awaitState(_ state: String, at home: AgentHome) async throws {
        try await eventually(within: .seconds(60), "\(home.name) says \(state)") {
            "\(try await home.status().folder as Any)"
        } holds: {
            try await home.status().folder?.state == state
        }
    }

    /// Two homes with the same inbox and outbox, of which each was set up while the other did not
    /// run.
    private func withTwoHomes(_ body: (AgentHome, AgentHome) async throws -> Void) async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", FreePort.pair().0.address)
            let other = try AgentHome("other", in: folder)
            try await other.setUp(
                "--listen", FreePort.pair().0.address, "--inbox", home.inbox, "--outbox",
                home.outbox)
            for home in [home, other] {
                try await withAgents(home) { agents in _ = try await agents[0].stop() }
            }
            try await body(home, other)
        }
    }

    private func rename(_ path: BytePath, to name: BytePath) throws {
        try Folder(at: path.parent).rename(path.lastComponent, to: name)
    }

    /// Which folder is away when the agents start.
    enum Folders: String, CaseIterable, Sendable {
        case inbox, outbox

        func path(at home: AgentHome) -> BytePath { self == .inbox ? home.inbox : home.outbox }
    }

    @Test(arguments: Folders.allCases)
    func `a folder that appears late is locked against a second agent`(
        folder: Folders
    ) async throws {
        try await withTwoHomes { home, other in
            let path = folder.path(at: home)
            try rename(path, to: "away")
            try await withAgents(home) { _ in
                try await awaitState("waiting: not-mounted", at: home)
                try rename(path.parent.appending("away"), to: path.lastComponent)
                try await awaitState("running", at: home)
                let result = try await other.start(["-q", "run"]).finished()
                #expect(result.exitCode == 75, "\(result.error)")
            }
        }
    }

    @Test func `a folder that appears late and is another agent's is left alone`() async throws {
        try await withTwoHomes { home, other in
            for folder in Folders.allCases {
                try rename(folder.path(at: home), to: BytePath("away-\(folder)"))
            }
            try await withAgents(home, other) { agents in
                for home in [home, other] {
                    try await awaitState("waiting: not-mounted", at: home)
                }
                for folder in Folders.allCases {
                    let path = folder.path(at: home)
                    try rename(
                        path.parent.appending(BytePath("away-\(folder)")), to: path.lastComponent)
                }
                func states() async throws -> Set<String> {
                    var states: Set<String> = []
                    for home in [home, other] {
                        states.insert(try await home.status().folder?.state ?? "none")
                    }
                    return states
                }
                // One of the two gets each of them; the other says why it waits.
                try await eventually(within: .seconds(60), "one waits for the other") {
                    "\(try await states())"
                } holds: {
                    try await states().contains("waiting: held-elsewhere")
                }
            }
        }
    }
}
