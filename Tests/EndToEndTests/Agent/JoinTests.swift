import ChuteSystem
import TestSupport
import Testing

/// Devices that become members by a ticket.
@Suite(.timeLimit(.minutes(3)))
struct JoinTests {
    @Test func `a ticket makes a member, once`() async throws {
        var random = SeededGenerator(seed: 5)
        let photo = SampleFiles.photo(500_000, using: &random)
        try await withStrangers { laptop, pi in
            try await withAgents(laptop, pi) { _ in
                let ticket = try await laptop.ticket()
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
                let result = try await pi.chute("join", laptop.ticket())
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

    @Test(arguments: ["", "chute1:", "chute1:abc", "chute:mzxw6", "hello there"])
    func `a slip of the hand set a home up`(ticket: String) async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("pi", in: folder)
            try Folder.make(home.path, mode: 0o700)
            try home.user.own(home.path)
            let result = try await home.chute("join", BytePath(ticket))
            #expect(result.exitCode == 1)
            #expect(result.error.contains("this is no ticket"))
            #expect(try Folder(at: home.path).entries().isEmpty)
        }
    }

    @Test func `off a terminal an invitation ends at once, and says so`() async throws {
        try await withStrangers { laptop, _ in
            let alone = try await laptop.chute("invite")
            #expect(alone.exitCode == 0, "\(alone.error)")
            #expect(alone.output.contains("chute join chute1:"))
            #expect(alone.error.contains("only while"))
            try await withAgents(laptop) { _ in
                let result = try await laptop.chute("invite")
                #expect(result.exitCode == 0, "\(result.error)")
                #expect(result.error.contains("no terminal"))
                #expect(result.error.contains("peers`"))
                let printed = try await laptop.chute("invite", "--print")
                #expect(!printed.error.contains("terminal"))
            }
        }
    }

    @Test func `a port that is taken is said once, with what to do`() async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            let taken = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
            let address = taken.address.description
            try await home.setUp("--listen", BytePath(address))
            try await withAgents(home) { agents in
                var note: Substring?
                try await eventually("status says that it waits") {
                    note = try await home.chute("status").output.split(separator: "\n").first {
                        $0.contains("tcp ") && $0.contains("waiting")
                    }
                    return note != nil
                }
                let words = try #require(note)
                let parts = words.split(separator: address, omittingEmptySubsequences: false)
                #expect(parts.count == 2)
                #expect(words.contains("taken by another program"))
                #expect(words.contains("listen in [transports.tcp]"))
                let log = try agents[0].log
                #expect(log.split(separator: "tcp waits").count == 2, "\(log)")
            }
            withExtendedLifetime(taken.address) {}
            _ = taken.descriptor.raw
        }
    }

    @Test func `a device that nobody reaches is said with the addresses that were tried`()
        async throws
    {
        try await withStrangers { laptop, pi in
            let ticket: BytePath = try await withAgents(laptop) { _ in
                try await laptop.ticket()
            }
            let result = try await pi.chute("join", ticket)
            #expect(result.exitCode == 69)
            #expect(result.error.contains("127.0.0.1:"))
            #expect(try await pi.status().space == nil)
        }
    }
}
