import ChuteSystem
import TestSupport
import Testing

/// Three homes whose agents run: A and C came in by a ticket of B's.
struct Chain: Sendable {
    let a: AgentHome
    let b: AgentHome
    let c: AgentHome

    /// Calls `body` with three of one network, or one on each of these hosts.
    static func with(
        _ hosts: [NetworkNamespaces.Host]? = nil, _ body: (Chain) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let homes = try ["a", "b", "c"].enumerated().map { index, name in
                try AgentHome(name, in: folder, network: hosts?[index])
            }
            for home in homes {
                if hosts == nil {
                    try await home.setUp("--listen", FreePort.pair().0.address)
                } else {
                    try await home.setUp()
                }
            }
            try await withAgents(homes[0], homes[1], homes[2]) { agents in
                do {
                    for home in [homes[0], homes[2]] {
                        let joined = try await home.chute("join", ticket(of: homes[1]))
                        try #require(joined.exitCode == 0, "\(joined.error)")
                    }
                    try await body(Chain(a: homes[0], b: homes[1], c: homes[2]))
                } catch {
                    for agent in agents { print(agent.home.name, try agent.log.suffix(4000)) }
                    throw error
                }
            }
        }
    }

    private static func ticket(of home: AgentHome) async throws -> BytePath {
        let result = try await home.chute("-q", "invite", "--print")
        try #require(result.exitCode == 0, "\(result.error)")
        return BytePath(String(try #require(result.output.split(separator: "\n").first)))
    }

    /// What A drops comes out at B and at C, and A has the receipts of both.
    func expectDelivery() async throws {
        var random = SeededGenerator(seed: 31)
        let photo = SampleFiles.photo(400_000, using: &random)
        try a.drop(photo, as: "photo.jpg")
        for home in [b, c] {
            try await home.awaitOutbox(FolderTree(files: ["a/photo.jpg": .init(photo)]))
        }
        try await a.awaitReceipts(1)
        let document = try #require(try await a.list().documents.first)
        #expect(document.name == "photo.jpg")
        #expect(
            Set(document.receipts) == [
                .init(peer: "b", state: "delivered"), .init(peer: "c", state: "delivered"),
            ])
    }

    /// Once B removed A, nothing goes between A and the others, who still have each other.
    func expectRemoval() async throws {
        var random = SeededGenerator(seed: 32)
        let photos = (0..<3).map { _ in SampleFiles.photo(100_000, using: &random) }
        try a.drop(photos[0], as: "before.jpg")
        var expected = FolderTree(files: ["a/before.jpg": .init(photos[0])])
        for home in [b, c] { try await home.awaitOutbox(expected) }
        try await a.awaitReceipts(1)

        let removed = try await b.chute("peers", "remove", "a")
        try #require(removed.exitCode == 0, "\(removed.error)")
        for home in [b, c] {
            try await eventually(within: .seconds(5), "a is cut off at \(home.name)") {
                "\(try await home.status().peers)"
            } holds: {
                try await home.status().peers.allSatisfy { $0.name != "a" || !$0.connected }
            }
        }
        try a.drop(photos[1], as: "after.jpg")
        try await eventually("a shares it, with whoever there is") {
            try await a.status().folder?.shared == 2
        }
        // What a member drops later comes through: had the other one come, it would be there.
        try c.drop(photos[2], as: "c.jpg")
        expected.files["c/c.jpg"] = .init(photos[2])
        try await b.awaitOutbox(expected)
        #expect(
            try FolderTree(of: c.outbox) == FolderTree(files: ["a/before.jpg": .init(photos[0])]))
        #expect(try FolderTree(of: a.outbox).files.isEmpty)
        for home in [b, c] {
            #expect(try await home.status().peers.allSatisfy { $0.name != "a" || !$0.connected })
        }
    }

    /// The outer two know of each other and are not connected.
    func expectApart() async throws {
        for (home, other) in [(a, "c"), (c, "a")] {
            #expect(
                try await home.status().peers.allSatisfy { $0.name != other || !$0.connected },
                "\(home.name) reached \(other)")
        }
    }
}
