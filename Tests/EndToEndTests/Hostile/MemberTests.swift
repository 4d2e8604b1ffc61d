import ChuteKit
import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

/// A member that lies: it can fill the outbox, never leave it.
@Suite(.timeLimit(.minutes(3)))
struct MemberTests {
    private func bytes(of text: String) -> [UInt8] { Array(text.utf8) }

    /// What a good file of the member that comes after all the bad ones shows.
    private func expectGoodFile(
        of member: Member, at home: AgentHome, in folder: BytePath
    ) async throws {
        var random = SeededGenerator(seed: 77)
        let photo = SampleFiles.photo(60_000, using: &random)
        let id = try await member.share(photo, file: "good", path: [bytes(of: "good.jpg")])
        try await eventually("a good file arrives") {
            "\(try await home.status().folder as Any)"
        } holds: {
            try await member.answer(to: id) == .delivered
        }
        let path = home.outbox.appending(folder).appending("good.jpg")
        #expect(try FolderTree.Content(of: path) == .init(photo))
    }

    /// What somebody else has beside the outbox, and links in the outbox that lead there.
    private func plantVictim(_ home: AgentHome, _ folder: BytePath) throws -> BytePath {
        let victim = home.path.parent.appending("victim")
        try Folder.make(victim.appending("folder"), mode: 0o777)
        try SampleFiles.write(bytes(of: "precious"), to: victim.appending("file.jpg"))
        try SampleFiles.write(bytes(of: "more"), to: victim.appending("folder/old.jpg"))
        for path in ["", "folder", "file.jpg", "folder/old.jpg"] as [BytePath] {
            let whole = path.isEmpty ? victim : victim.appending(path)
            try TestUser.agent.own(whole)
        }
        let peer = home.outbox.appending(folder)
        try Folder.make(peer, mode: 0o777)
        try TestUser.agent.own(peer)
        for (name, target) in [("existing-symlink.jpg", "file.jpg"), ("linked", "folder")] {
            let made = victim.appending(BytePath(target)).withCString { target in
                peer.appending(BytePath(name)).withCString { symlink(target, $0) }
            }
            guard made == 0 else { throw SystemError.current("symlink", peer) }
        }
        return victim
    }

    /// All files below the folder of the test but those that agent and member write.
    private func bystanders(_ home: AgentHome) throws -> FolderTree {
        var tree = try FolderTree(of: home.path.parent)
        tree.files = tree.files.filter { path, _ in
            !["pi/outbox/", "pi/state/", "member/"].contains { path.bytes.starts(with: $0.utf8) }
        }
        return tree
    }

    @Test(.hostileNames)
    func `no name that a peer sends leaves the outbox`() async throws {
        let names = try HostileNames.all()
        try #require(names.count >= 18)
        try await Member.with(name: "..") { home, member in
            // A name that would be refused is the start of the device's id instead.
            let folder = BytePath(member.engine.chute.device.short)
            let victim = try plantVictim(home, folder)
            let before = try bystanders(home)
            #expect(before.files.keys.contains("victim/file.jpg"))

            var paths = names.map { name in
                name.split(
                    separator: UInt8(ascii: "/"),
                    omittingEmptySubsequences: false
                ).map(Array.init)
            }
            paths += names.filter { $0.contains(UInt8(ascii: "/")) }.map { [$0] }
            paths += [
                [], [[]], [bytes(of: "a"), [], bytes(of: "b")],
                [bytes(of: ".chute"), bytes(of: "id")],
                [bytes(of: "linked"), bytes(of: "new.jpg")],
                [bytes(of: "linked"), bytes(of: "old.jpg")],
                [bytes(of: ".."), bytes(of: ".."), bytes(of: "victim"), bytes(of: "file.jpg")],
                [bytes(of: "existing-symlink.jpg")],
            ]
            var documents: [(id: DocumentID, path: [[UInt8]], content: FolderTree.Content)] = []
            try await withAgents(home) { agents in
                for (number, path) in paths.enumerated() {
                    let content = bytes(of: "hostile \(number)")
                    let id = try await member.share(
                        content, file: BytePath("hostile-\(number)"), path: path)
                    documents.append((id, path, .init(content)))
                }
                try await expectGoodFile(of: member, at: home, in: folder)
                var refused = 0
                var delivered: Set<FolderTree.Content> = []
                for document in documents {
                    let text = BytePath(components: document.path)
                    try await eventually("an answer about \(text)") {
                        "\(try await home.status().folder as Any)\n\(try agents[0].log)"
                    } holds: {
                        try await member.answer(to: document.id) != nil
                    }
                    switch try await member.answer(to: document.id) {
                    case .delivered?: delivered.insert(document.content)
                    case .refused(let reason)?:
                        #expect(reason == "name-refused", "\(text)")
                        refused += 1
                    default: Issue.record("no answer about \(text)")
                    }
                    if (try? OutboxNaming().name(document.path)) == nil {
                        #expect(!delivered.contains(document.content), "\(text)")
                    }
                }
                #expect(refused >= 10)
                #expect(delivered.count + refused == documents.count)
                let status = try await home.status()
                #expect(status.running)
                #expect(status.folder?.skippedTotal["name-refused"] == refused)

                // All that was delivered lies in the member's folder, once.
                let tree = try FolderTree(of: home.outbox)
                #expect(
                    tree.files.keys.allSatisfy {
                        $0.components.first.map { BytePath(bytes: $0) } == folder
                    })
                #expect(tree.files.count == delivered.count + 1)
                #expect(delivered.isSubset(of: Set(tree.files.values)))
                #expect(try bystanders(home) == before)
                #expect(
                    try FileStatus.of(home.outbox.appending(folder).appending("linked")).kind
                        == .symlink)
                #expect(try FolderTree(of: victim).files.count == 2)
            }
        }
    }

    @Test func `bytes that are not what was claimed never show, and the reason does`()
        async throws
    {
        var random = SeededGenerator(seed: 78)
        let photo = SampleFiles.photo(50_000, using: &random)
        // A file of two leaves, and the file of 64 bytes that are the hashes of these leaves:
        // both have one root.
        let long = random.bytes(32 << 10)
        let short =
            SHA256.hash(Array(long[..<(16 << 10)])) + SHA256.hash(Array(long[(16 << 10)...]))
        try await Member.with(name: "liar") { [random] home, member in
            var random = random
            try await withAgents(home) { agents in
                let right = try member.make(photo, as: "right")
                var wrong: [DocumentID] = []
                // As long as it should be, but other bytes.
                _ = try member.make(random.bytes(photo.count), as: "wrong")
                wrong.append(
                    try await member.claim(right, file: "wrong", path: [bytes(of: "wrong.jpg")]))
                for (count, name) in [(photo.count + 1, "longer"), (photo.count - 1, "shorter")] {
                    let claimed = try #require(
                        AttachmentID(digest: right.digest, byteCount: UInt64(count)))
                    _ = try member.make(
                        Array((photo + [0]).prefix(count)), as: BytePath(name))
                    wrong.append(
                        try await member.claim(
                            claimed, file: BytePath(name), path: [bytes(of: name + ".jpg")]))
                }
                let one = try member.make(long, as: "long")
                let other = try member.make(short, as: "short")
                #expect(one.digest == other.digest)
                let twins = [
                    try await member.claim(one, file: "long", path: [bytes(of: "long.jpg")]),
                    try await member.claim(other, file: "short", path: [bytes(of: "short.jpg")]),
                ]
                try await expectGoodFile(of: member, at: home, in: "liar")
                for id in twins {
                    try await eventually("a twin arrives") {
                        try await member.answer(to: id) == .delivered
                    }
                }
                try await eventually("the wrong ones are listed") {
                    "\(try await home.status().folder as Any)\n\(try agents[0].log)"
                } holds: {
                    try await home.status().folder?.skippedTotal["hash-mismatch"] == wrong.count
                }
                // The member that has not got what it announced is told so.
                for id in wrong {
                    try await eventually("an answer about wrong bytes") {
                        try await member.answer(to: id) == .refused(reason: "hash-mismatch")
                    }
                }
                let tree = try FolderTree(of: home.outbox)
                #expect(
                    Set(tree.files.keys) == ["liar/good.jpg", "liar/long.jpg", "liar/short.jpg"])
                #expect(tree.files["liar/long.jpg"] == .init(long))
                #expect(tree.files["liar/short.jpg"] == .init(short))
            }
        }
    }
}
