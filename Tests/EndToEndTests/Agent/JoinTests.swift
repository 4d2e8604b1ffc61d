import ChuteSystem
import TestSupport
import Testing

/// Devices that become members by a ticket.
@Suite(.timeLimit(.minutes(3)))
struct JoinTests {
    /// Two homes that know nothing of each other, each listening at a port of its own.
    private func withStrangers(
        _ body: (AgentHome, AgentHome) async throws -> Void
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

    private func ticket(of home: AgentHome) async throws -> BytePath {
        let result = try await home.chute("-q", "invite", "--print")
        try #require(result.exitCode == 0, "\(result.error)")
        let line = try #require(result.output.split(separator: "\n").first)
        #expect(line.hasPrefix("chute1:"))
        return BytePath(String(line))
    }

    @Test func `a ticket makes a member, once`() async throws {
        var random = SeededGenerator(seed: 5)
        let photo = SampleFiles.photo(500_000, using: &random)
        try await withStrangers { laptop, pi in
            try await withAgents(laptop, pi) { _ in
                let ticket = try await ticket(of: laptop)
                let joined = try await pi.chute("join", ticket)
                #expect(joined.exitCode == 0, "\(joined.error)")
                #expect(joined.output.contains("laptop"))
                try laptop.drop(photo, as: "photo.jpg")
                try await pi.awaitOutbox(FolderTree(files: ["laptop/photo.jpg": .init(photo)]))
                try await laptop.awaitReceipts(1)
                #expect(try await laptop.status().peers.map(\.name) == ["pi"])

                let third = try AgentHome("third", in: laptop.path.parent)
                try await third.setUp("--listen", FreePort.pair().0.address)
                let refused = try await third.chute("join", ticket)
                #expect(refused.exitCode == 1)
                #expect(refused.error.contains("used up"))
            }
        }
    }

    @Test func `ten drops on both sides before they join arrive on both`() async throws {
        var random = SeededGenerator(seed: 6)
        var contents: [String: [BytePath: [UInt8]]] = [:]
        for home in ["laptop", "pi"] {
            for number in 0..<10 {
                let photo = SampleFiles.photo(20_000 * (number + 1), using: &random)
                contents[home, default: [:]][BytePath("trip/\(number).jpg")] = photo
            }
        }
        try await withStrangers { [contents] laptop, pi in
            for home in [laptop, pi] {
                for (name, bytes) in contents[home.name] ?? [:] { try home.drop(bytes, as: name) }
            }
            try await withAgents(laptop, pi) { _ in
                let result = try await pi.chute("join", ticket(of: laptop))
                #expect(result.exitCode == 0, "\(result.error)")
                for (from, to) in [(laptop, pi), (pi, laptop)] {
                    let dropped = FolderTree(
                        files: (contents[from.name] ?? [:]).mapValues { FolderTree.Content($0) })
                    try await to.awaitOutbox(dropped.below(BytePath(from.name)))
                    try await from.awaitReceipts(10)
                }
            }
        }
    }

    @Test func `a device that nobody reaches is said with the addresses that were tried`()
        async throws
    {
        try await withStrangers { laptop, pi in
            let ticket: BytePath = try await withAgents(laptop) { _ in
                try await self.ticket(of: laptop)
            }
            let result = try await pi.chute("join", ticket)
            #expect(result.exitCode == 69)
            #expect(result.error.contains("127.0.0.1:"))
            #expect(try await pi.status().space == nil)
        }
    }
}
