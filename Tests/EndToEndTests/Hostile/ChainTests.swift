import ChuteSystem
import FoundationEssentials
import TestSupport
import Testing

/// Three devices of which the outer two learn of each other through the one between.
@Suite(.timeLimit(.minutes(3)))
struct ChainTests {
    private func ticket(of home: AgentHome) async throws -> BytePath {
        let result = try await home.chute("-q", "invite", "--print")
        try #require(result.exitCode == 0, "\(result.error)")
        return BytePath(String(try #require(result.output.split(separator: "\n").first)))
    }

    /// Three homes whose agents run; A and C came in by a ticket of B's.
    private func withChain(
        _ body: (AgentHome, AgentHome, AgentHome) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let homes = try ["a", "b", "c"].map { try AgentHome($0, in: folder) }
            for home in homes { try await home.setUp("--listen", FreePort.pair().0.address) }
            try await withAgents(homes[0], homes[1], homes[2]) { _ in
                for home in [homes[0], homes[2]] {
                    let joined = try await home.chute("join", ticket(of: homes[1]))
                    try #require(joined.exitCode == 0, "\(joined.error)")
                }
                try await body(homes[0], homes[1], homes[2])
            }
        }
    }

    @Test func `what is dropped at one end comes out at the other, and is known to have`()
        async throws
    {
        var random = SeededGenerator(seed: 31)
        let photo = SampleFiles.photo(400_000, using: &random)
        try await withChain { a, b, c in
            try a.drop(photo, as: "photo.jpg")
            for home in [b, c] {
                try await home.awaitOutbox(FolderTree(files: ["a/photo.jpg": .init(photo)]))
            }
            try await a.awaitReceipts(1)
            let list = try await a.chute("list", "--json")
            #expect(list.exitCode == 0, "\(list.error)")
            let receipts = try DocumentReceipts.of(list.output)
            #expect(receipts == ["photo.jpg": ["b": "delivered", "c": "delivered"]])
        }
    }

    @Test func `who is removed is out at once and stays out`() async throws {
        var random = SeededGenerator(seed: 32)
        let photos = (0..<3).map { _ in SampleFiles.photo(100_000, using: &random) }
        try await withChain { a, b, c in
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
                try FolderTree(of: c.outbox)
                    == FolderTree(files: ["a/before.jpg": .init(photos[0])]))
            #expect(try FolderTree(of: a.outbox).files.isEmpty)
            for home in [b, c] {
                #expect(
                    try await home.status().peers.allSatisfy { $0.name != "a" || !$0.connected })
            }
        }
    }
}

/// What `list --json` says that others did with each document.
private struct DocumentReceipts: Decodable {
    struct Document: Decodable {
        let name: String
        let receipts: [Receipt]
    }
    struct Receipt: Decodable {
        let peer: String
        let state: String
    }

    let documents: [Document]

    static func of(_ json: String) throws -> [String: [String: String]] {
        let list = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
        return Dictionary(
            uniqueKeysWithValues: list.documents.map { document in
                (
                    document.name,
                    Dictionary(uniqueKeysWithValues: document.receipts.map { ($0.peer, $0.state) })
                )
            })
    }
}
