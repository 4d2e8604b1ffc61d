import ChuteKit
import ChuteSystem
import TestSupport
import Testing

/// Agents of which two only send: to the owner, and through it to the members.
@Suite(.timeLimit(.minutes(3)))
struct SenderAgentTests {
    private struct Newsroom: Sendable {
        let olga: AgentHome
        let bruno: AgentHome
        let sam: AgentHome
        let carla: AgentHome
        let agents: [AgentProcess]
        var ids: [String: String] = [:]

        var senders: [AgentHome] { [sam, carla] }
    }

    /// An owner, a member and two that only send, whose agents run.
    private func withNewsroom(_ body: (Newsroom) async throws -> Void) async throws {
        try await withAgentFolder { folder in
            let homes = try ["olga-desk", "bruno-laptop", "sam-camera", "carla-camera"].map {
                try AgentHome($0, in: folder)
            }
            for home in homes { try await home.setUp("--listen", FreePort.pair().0.address) }
            try homes[2].configure(#"after_ingest = "delete""#)
            try await withAgents(homes[0], homes[1], homes[2], homes[3]) { agents in
                do {
                    for (home, role) in zip(homes.dropFirst(), ["member", "sender", "sender"]) {
                        let ticket = try await homes[0].ticket(for: BytePath(role))
                        let joined = try await home.chute("join", ticket)
                        try #require(joined.exitCode == 0, "\(joined.error)")
                    }
                    var room = Newsroom(
                        olga: homes[0], bruno: homes[1], sam: homes[2], carla: homes[3],
                        agents: agents)
                    for home in homes { room.ids[home.name] = try await home.status().device.id }
                    try await body(room)
                } catch {
                    for agent in agents { print(agent.home.name, try agent.log.suffix(3000)) }
                    throw error
                }
            }
        }
    }

    @Test
    func `what two senders drop comes to the owner and the member, and neither learns of others`()
        async throws
    {
        var random = SeededGenerator(seed: 71)
        var contents: [String: [BytePath: [UInt8]]] = [:]
        for (name, word) in [("sam-camera", "sam"), ("carla-camera", "carla")] {
            for number in 0..<5 {
                contents[name, default: [:]][BytePath("\(word)-secret-\(number).jpg")] =
                    SampleFiles.photo(50_000, using: &random)
            }
        }
        let note = SampleFiles.photo(60_000, using: &random)
        try await withNewsroom { [contents] room in
            try room.bruno.drop(note, as: "bruno-secret.jpg")
            for home in room.senders {
                for (name, bytes) in contents[home.name] ?? [:] { try home.drop(bytes, as: name) }
            }
            var sent = FolderTree()
            for home in room.senders {
                let dropped = FolderTree(
                    files: (contents[home.name] ?? [:]).mapValues { FolderTree.Content($0) })
                sent.files.merge(dropped.below(BytePath(home.name)).files) { first, _ in first }
            }
            try await room.bruno.awaitOutbox(sent)
            sent.files["bruno-laptop/bruno-secret.jpg"] = .init(note)
            try await room.olga.awaitOutbox(sent)
            for home in room.senders { try await home.awaitReceipts(5) }
            try await room.bruno.awaitReceipts(1)
            // The owner's receipt, and its word that it has them still, are enough.
            try await eventually("what sam dropped is taken away") {
                try FolderTree.paths(below: room.sam.inbox).isEmpty
            }
            for home in room.senders {
                let status = try await home.status()
                #expect(status.peers.map(\.name) == ["olga-desk"])
                #expect(status.folder?.peers.count == 1)
                #expect(try FolderTree(of: home.outbox).files.isEmpty)
            }
            #expect(try await room.olga.status().peers.count == 3)
            #expect(try await room.olga.status().folder?.peers.count == 1)
            for agent in room.agents { try await agent.stop() }
            try expectNothing(of: ["bruno", "carla"], in: room.sam, room)
            try expectNothing(of: ["bruno", "sam"], in: room.carla, room)
        }
    }

    /// Looks through all files of a home, the database's too, for what others are and what they
    /// call their files.
    private func expectNothing(
        of others: [String], in home: AgentHome, _ room: Newsroom
    ) throws {
        var secrets = others.map { "\($0)-" }.map { Array($0.utf8) }
        for (name, id) in room.ids where others.contains(where: name.hasPrefix) {
            let device = try #require(DeviceID(id))
            secrets += [device.digest.bytes, Array(device.short.utf8)]
        }
        var searched: Set<BytePath> = []
        var pending: [BytePath] = [home.path]
        while let folder = pending.popLast() {
            for entry in try Folder(at: folder).entries() {
                let path = folder.appending(entry.name)
                let status = try FileStatus.of(path)
                if status.kind == .directory { pending.append(path) }
                guard status.kind == .regular else { continue }
                searched.insert(entry.name)
                let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
                let text = try file.read(count: Int(status.size), at: 0)
                for secret in secrets {
                    #expect(
                        !text.holds(secret), "\(path): \(String(decoding: secret, as: UTF8.self))")
                }
            }
        }
        #expect(searched.contains("chute.db"), "\(searched)")
    }

    @Test func `members and senders are told that only owners invite and remove`() async throws {
        try await withNewsroom { room in
            for home in [room.bruno, room.sam] {
                let invited = try await home.chute("invite", "--print")
                #expect(invited.exitCode == 1)
                #expect(invited.error.contains("only an owner of the space can invite"))
                let removed = try await home.chute("peers", "remove", "olga-desk")
                #expect(removed.exitCode == 1)
                #expect(removed.error.contains("only an owner of the space removes members"))
                let changed = try await home.chute("peers", "role", "olga-desk", "member")
                #expect(changed.exitCode == 1)
                #expect(changed.error.contains("only an owner of the space changes roles"))
            }
            #expect(
                Set(try await room.olga.status().peers.map(\.role)) == ["member", "sender"])
        }
    }

    @Test func `an owner gives members other roles`() async throws {
        try await withNewsroom { room in
            func give(_ home: AgentHome, _ role: BytePath) async throws {
                let given = try await room.olga.chute("peers", "role", BytePath(home.name), role)
                #expect(given.exitCode == 0, "\(given.error)")
                #expect(given.output.contains("has the role \(role) now"), "\(given.output)")
            }
            try await give(room.bruno, "owner")
            try await eventually("bruno may invite") {
                try await room.bruno.chute("invite", "--print").exitCode == 0
            }
            try await give(room.sam, "member")
            try await eventually("sam hears of bruno") {
                try await room.sam.status().peers.contains { $0.name == "bruno-laptop" }
            }
            try await give(room.bruno, "sender")
            try await eventually("bruno may not invite any more") {
                try await room.bruno.chute("invite", "--print").exitCode == 1
            }
            let wrong = try await room.olga.chute("peers", "role", "sam-camera", "boss")
            #expect(wrong.exitCode == 64)
            #expect(wrong.error.contains("expected owner, member or sender"))
        }
    }
}
