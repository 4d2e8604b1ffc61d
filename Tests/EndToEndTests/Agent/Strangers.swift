import ChuteSystem
import TestSupport
import Testing

/// Two homes that know nothing of each other, each listening at a port of its own.
func withStrangers(
    _ body: (_ laptop: AgentHome, _ pi: AgentHome) async throws -> Void
) async throws {
    try await withAgentFolder { folder in
        let laptop = try AgentHome("laptop", in: folder)
        let pi = try AgentHome("pi", in: folder)
        let ports = try FreePort.pair()
        try await laptop.setUp("--listen", ports.0.address)
        try await pi.setUp("--listen", ports.1.address)
        try await body(laptop, pi)
    }
}

extension AgentHome {
    /// A ticket of this home for one device.
    func ticket(
        for role: BytePath = "member", expires span: BytePath = "15 min"
    ) async throws -> BytePath {
        let made = try await chute("-q", "invite", "--print", "--role", role, "--expires", span)
        try #require(made.exitCode == 0, "\(made.error)")
        let line = try #require(made.output.split(separator: "\n").first)
        #expect(line.hasPrefix("chute1:"))
        return BytePath(String(line))
    }
}
