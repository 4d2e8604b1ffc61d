import ChuteSystem
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `after_ingest`: what leaves the inbox, when, and what does not.
@Suite(.timeLimit(.minutes(4)))
struct AfterIngestTests {
    private func photos(_ count: Int, seed: UInt64) -> [[UInt8]] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in SampleFiles.photo(60_000, using: &random) }
    }

    @Test func `a file is deleted once a peer has it, and its name is free for another`()
        async throws
    {
        let photos = photos(2, seed: 61)
        try await AgentPair.with { pair in
            try pair.laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(pair.laptop, pair.pi) { _ in
                var expected = FolderTree(files: ["laptop/day 1/a.jpg": .init(photos[0])])
                try pair.laptop.drop(photos[0], as: "day 1/a.jpg")
                try await pair.pi.awaitOutbox(expected)
                try await pair.laptop.awaitInbox([:])
                // Another file of that name, and then the first one again: each is a new one.
                try pair.laptop.drop(photos[1], as: "day 1/a.jpg")
                expected.files["laptop/day 1/a (2).jpg"] = .init(photos[1])
                try await pair.pi.awaitOutbox(expected)
                try await pair.laptop.awaitInbox([:])
                try await pair.laptop.awaitReceipts(2)
                #expect(try pair.laptop.namesAside().isEmpty)
            }
        }
    }

    @Test func `files are moved with their folders, and nothing there is replaced`()
        async throws
    {
        let photos = photos(3, seed: 62)
        try await AgentPair.with { pair in
            let done = pair.laptop.path.appending("done/with it")
            try pair.laptop.configure(
                #"after_ingest = "move""#, #"after_ingest_folder = "done/with it""#)
            try await withAgents(pair.laptop, pair.pi) { _ in
                try await eventually("the folder is made") {
                    try Folder(at: pair.laptop.path).status(of: "done/with it") != nil
                }
                try pair.laptop.drop(photos[0], as: "a.jpg")
                try pair.laptop.drop(photos[1], as: "day 1/b.jpg")
                try await pair.laptop.awaitInbox([:])
                var moved: [BytePath: FolderTree.Content] = [
                    "a.jpg": .init(photos[0]), "day 1/b.jpg": .init(photos[1]),
                ]
                #expect(try FolderTree(of: done).files == moved)
                try pair.laptop.drop(photos[2], as: "a.jpg")
                try await pair.laptop.awaitInbox([:])
                moved["a (2).jpg"] = .init(photos[2])
                #expect(try FolderTree(of: done).files == moved)
                try await pair.laptop.awaitReceipts(3)
                // Dropped again, it is shared again.
                try Folder(at: done).rename("a.jpg", to: "../../inbox/c.jpg")
                try await pair.laptop.awaitReceipts(4)
                try await pair.laptop.awaitInbox([:])
                #expect(try FolderTree(of: pair.pi.outbox).files["laptop/a.jpg"] != nil)
            }
        }
    }

    @Test(.enabled(if: OtherFileSystem.isThere, "needs /dev/shm beside /tmp"))
    func `a move goes to another file system too`() async throws {
        let photos = photos(2, seed: 63)
        try await AgentPair.with { pair in
            try await withAgentFolder(in: OtherFileSystem.folder) { shared in
                try pair.laptop.configure(
                    #"after_ingest = "move""#, #"after_ingest_folder = "\#(shared)/done""#)
                try await withAgents(pair.laptop, pair.pi) { _ in
                    try pair.laptop.drop(photos[0], as: "day 1/a.jpg")
                    try await pair.laptop.awaitInbox([:])
                    try pair.laptop.drop(photos[1], as: "day 1/a.jpg")
                    try await pair.laptop.awaitInbox([:])
                    #expect(
                        try FolderTree(of: shared.appending("done")).files == [
                            "day 1/a.jpg": .init(photos[0]), "day 1/a (2).jpg": .init(photos[1]),
                        ])
                    let hidden = shared.appending("done/.chute/moving")
                    #expect(try Folder(at: hidden).entries().isEmpty)
                }
            }
        }
    }

    @Test func `without a receipt a file stays, and so does what a writer has open`()
        async throws
    {
        let photos = photos(2, seed: 64)
        try await AgentPair.with { pair in
            try pair.laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(pair.laptop) { _ in
                try pair.laptop.drop(photos[0], as: "free.jpg")
                try pair.laptop.drop(photos[1], as: "open.jpg")
                try await eventually("both are shared") {
                    try await pair.laptop.status().folder?.shared == 2
                }
                let open = pair.laptop.inbox.appending("open.jpg")
                try await holdingOpen(open) {
                    #expect(try FolderTree.paths(below: pair.laptop.inbox).count == 2)
                    try await withAgents(pair.pi) { _ in
                        try await pair.laptop.awaitReceipts(2)
                        try await pair.laptop.awaitInbox(["open.jpg": .init(photos[1])])
                        try await eventually("status says why") {
                            try await pair.laptop.chute("status").output.contains(
                                "open.jpg stays: somebody has it open for writing")
                        }
                        #expect(try FolderTree.Content(of: open) == .init(photos[1]))
                    }
                }
                // Nobody has it open any more, and the peer is off: it is asked when it is back.
                try await withAgents(pair.pi) { _ in
                    try await pair.laptop.awaitInbox([:], within: .seconds(90))
                }
            }
        }
    }

    /// Another program has the file open for writing and does nothing with it.
    private func holdingOpen(_ path: BytePath, _ body: () async throws -> Void) async throws {
        let writer = try FileDescriptor.open(path, O_RDWR)
        try await body()
        _ = writer.raw
    }

    @Test(.root) func `another user's file stays, since nobody can tell who writes it`()
        async throws
    {
        let photos = photos(2, seed: 70)
        try await AgentPair.with { pair in
            try pair.laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(pair.laptop, pair.pi) { _ in
                let staged = pair.laptop.path.parent.appending("theirs.jpg")
                try SampleFiles.write(photos[0], to: staged)
                try TestUser.other.own(staged)
                try Folder(at: staged.parent).rename("theirs.jpg", to: "laptop/inbox/theirs.jpg")
                try pair.laptop.drop(photos[1], as: "own.jpg")
                try await pair.laptop.awaitReceipts(2)
                try await pair.laptop.awaitInbox(["theirs.jpg": .init(photos[0])])
                try await eventually("status says why") {
                    try await pair.laptop.chute("status").output.contains(
                        "theirs.jpg stays: whether somebody writes it cannot be told here")
                }
                #expect(try FolderTree.paths(below: pair.laptop.inbox) == ["theirs.jpg"])
            }
        }
    }

    @Test func `what the peer's user removed since stays`() async throws {
        let photos = photos(2, seed: 65)
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { _ in
                try await withAgents(pair.pi) { _ in
                    try pair.laptop.drop(photos[0], as: "a.jpg")
                    try await pair.laptop.awaitReceipts(1)
                }
                try Folder(at: pair.pi.outbox).remove("laptop/a.jpg")
                try await withAgents(pair.pi) { _ in
                    try await eventually(within: .seconds(60), "the removal is told") {
                        try await pair.laptop.removedCount() == 1
                    }
                }
            }
            try pair.laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(pair.laptop, pair.pi) { _ in
                try pair.laptop.drop(photos[1], as: "b.jpg")
                try await pair.laptop.awaitInbox(["a.jpg": .init(photos[0])])
            }
        }
    }

    @Test func `what the peer's user edited or removed a moment ago stays`() async throws {
        let photos = photos(4, seed: 71)
        let names: [BytePath] = ["edited.jpg", "gone.jpg", "touched.jpg"]
        try await AgentPair.with { pair in
            // The peer looks at its copies every five minutes: its receipts still say that it has
            // all of them when the laptop wants to delete its own.
            try await withAgents(pair.pi) { _ in
                try await withAgents(pair.laptop) { _ in
                    for (name, photo) in zip(names, photos) {
                        try pair.laptop.drop(photo, as: name)
                    }
                    try await pair.laptop.awaitReceipts(3)
                }
                let outbox = try Folder(at: pair.pi.outbox.appending("laptop"))
                let edited = try outbox.open("edited.jpg", O_RDWR)
                try edited.write([0xFF], at: 30_000)
                try outbox.remove("gone.jpg")
                chmod(pair.pi.outbox.appending("laptop/touched.jpg").string ?? "", 0o600)
                try pair.laptop.configure(#"after_ingest = "delete""#)
                try await withAgents(pair.laptop) { _ in
                    try pair.laptop.drop(photos[3], as: "new.jpg")
                    try await pair.laptop.awaitInbox(
                        [
                            "edited.jpg": .init(photos[0]), "gone.jpg": .init(photos[1]),
                        ], within: .seconds(120))
                    try await eventually("status says why") {
                        try await pair.laptop.chute("status").output
                    } holds: {
                        // The other one is among them until the peer says by itself that it is
                        // gone.
                        let output = try await pair.laptop.chute("status").output
                        return output.contains("edited.jpg")
                            && output.contains("stay")
                            && output.contains("no device that is connected has confirmed")
                    }
                }
            }
        }
    }

    @Test func `what was held for others stays while the peer's copy is not what was sent`()
        async throws
    {
        let photo = photos(1, seed: 72)[0]
        try await withTrio { laptop, pi, nas in
            try laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(laptop) { _ in
                try await leaveOut(nas, whileGiving: photo, from: laptop, to: pi)
                // The nas gets it, edits it at once, and is the only one that is on.
                try await withAgents(nas) { _ in
                    let copy: BytePath = "laptop/a.jpg"
                    try await nas.awaitOutbox(FolderTree(files: [copy: .init(photo)]))
                    let file = try Folder(at: nas.outbox).open(copy, O_RDWR)
                    try file.write([0xFF], at: 30_000)
                    try await laptop.awaitReceipts(1)
                    // Held files are looked at every 20 s.
                    try await Task.sleep(for: .seconds(30))
                    let held = try Folder(at: laptop.inbox.appending(".chute/held")).entries()
                    #expect(held.count == 1)
                    try await withAgents(pi) { _ in
                        try await eventually(within: .seconds(60), "it is let go") {
                            try Folder(at: laptop.inbox.appending(".chute/held")).entries().isEmpty
                        }
                    }
                }
            }
        }
    }

    @Test func `a file that is edited again and again goes out as it was at last`() async throws {
        let photos = photos(12, seed: 66)
        try await AgentPair.with { pair in
            try pair.laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(pair.laptop, pair.pi) { _ in
                let path = pair.laptop.inbox.appending("a.jpg")
                for photo in photos {
                    do {
                        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC)
                        try pair.laptop.user.own(path)
                        try file.write(photo, at: 0)
                    } catch let error as SystemError where error.isNotFound {
                        continue  // taken between its opening and its owner
                    }
                    // As long as it takes to deliver one, more or less.
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...1500)))
                }
                let last = FolderTree.Content(photos[photos.count - 1])
                try await pair.laptop.awaitInbox([:])
                try await eventually("the last one is at the peer") {
                    try FolderTree(of: pair.pi.outbox).files.values.contains(last)
                }
                // Each that is there is one that was written as a whole.
                let whole = Set(photos.map { FolderTree.Content($0) })
                #expect(try Set(FolderTree(of: pair.pi.outbox).files.values).isSubset(of: whole))
            }
        }
    }

    @Test func `a member that has no receipt yet gets it from what is held`() async throws {
        let photo = photos(1, seed: 67)[0]
        try await withTrio { laptop, pi, nas in
            try laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(laptop) { _ in
                try await leaveOut(nas, whileGiving: photo, from: laptop, to: pi)
                #expect(try Folder(at: laptop.inbox.appending(".chute/held")).entries().count == 1)
                // Nobody else is on: what it gets is what the laptop holds.
                try await withAgents(nas) { _ in
                    try await nas.awaitOutbox(FolderTree(files: ["laptop/a.jpg": .init(photo)]))
                    try await laptop.awaitReceipts(1)
                }
            }
        }
    }

    @Test func `a member that joins later gets it from those who have it`() async throws {
        let photo = photos(1, seed: 68)[0]
        try await withTrio { laptop, pi, nas in
            try laptop.configure(#"after_ingest = "delete""#)
            try await withAgents(laptop, pi) { _ in
                try laptop.drop(photo, as: "a.jpg")
                try await laptop.awaitInbox([:])
                try await withAgents(nas) { _ in
                    try await nas.awaitOutbox(FolderTree(files: ["laptop/a.jpg": .init(photo)]))
                }
            }
        }
    }

    @Test func `a folder to move to that is gone is waited for, also at the start`()
        async throws
    {
        let photos = photos(3, seed: 69)
        try await AgentPair.with { pair in
            let (laptop, disk) = (pair.laptop, pair.laptop.path.appending("disk"))
            try laptop.configure(
                #"after_ingest = "move""#, #"after_ingest_folder = "disk/done""#)
            func rename(_ name: BytePath, to target: BytePath) throws {
                try Folder(at: laptop.path).rename(name, to: target)
            }
            func awaitWaiting() async throws {
                try await eventually(within: .seconds(60), "status says that it waits") {
                    try await laptop.chute("status").output.contains("disk/done is not there")
                }
                #expect(try Folder(at: laptop.path).status(of: "disk") == nil)
            }
            try await withAgents(pair.pi) { _ in
                try await withAgents(laptop) { _ in
                    try laptop.drop(photos[0], as: "a.jpg")
                    try await laptop.awaitInbox([:])
                    try rename("disk", to: "away")
                    try laptop.drop(photos[1], as: "b.jpg")
                    try await laptop.awaitReceipts(2)
                    try await awaitWaiting()
                    try await laptop.awaitInbox(["b.jpg": .init(photos[1])])
                }
                try await withAgents(laptop) { _ in
                    try await awaitWaiting()
                    try laptop.drop(photos[2], as: "c.jpg")
                    try await laptop.awaitReceipts(3)
                    try rename("away", to: "disk")
                    try await laptop.awaitInbox([:], within: .seconds(60))
                    #expect(
                        try FolderTree(of: disk.appending("done")).files == [
                            "a.jpg": .init(photos[0]), "b.jpg": .init(photos[1]),
                            "c.jpg": .init(photos[2]),
                        ])
                    #expect(try await !laptop.chute("status").output.contains("after_ingest"))
                }
            }
        }
    }

    @Test func `a folder to move to that its user made anew is used again`() async throws {
        let photos = photos(2, seed: 71)
        try await AgentPair.with { pair in
            let (laptop, done) = (pair.laptop, pair.laptop.path.appending("done"))
            try laptop.configure(#"after_ingest = "move""#, #"after_ingest_folder = "done""#)
            try await withAgents(laptop, pair.pi) { _ in
                try laptop.drop(photos[0], as: "a.jpg")
                try await laptop.awaitInbox([:])
                try Folder(at: laptop.path).rename("done", to: "away")
                try laptop.drop(photos[1], as: "b.jpg")
                try await eventually(within: .seconds(60), "status says what to do") {
                    try await laptop.chute("status").output.contains("make it where it is gone")
                }
                try Folder.make(done, mode: 0o755)
                try laptop.user.own(done)
                try await laptop.awaitInbox([:], within: .seconds(60))
                #expect(try FolderTree(of: done).files == ["b.jpg": .init(photos[1])])
                #expect(try await !laptop.chute("status").output.contains("after_ingest"))
            }
        }
    }

    @Test func `a folder to move to that leads into the inbox is a wrong configuration`()
        async throws
    {
        try await AgentPair.with { pair in
            symlink("inbox", pair.laptop.path.appending("link").string ?? "")
            try pair.laptop.configure(
                #"after_ingest = "move""#, #"after_ingest_folder = "link/done""#)
            let run = try await pair.laptop.chute("run")
            #expect(run.exitCode == 78)
            #expect(run.error.contains("lies in"))
        }
    }

    /// Where files go to in the kill test.
    enum Destination: CaseIterable, Sendable { case nowhere, here, otherFileSystem }

    @Test(arguments: Destination.allCases)
    func `no kill on the way out of the inbox loses a file or makes two of it`(
        destination: Destination
    ) async throws {
        guard destination != .otherFileSystem || OtherFileSystem.isThere else { return }
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("AfterIngestTests: \(destination), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let folder: BytePath = destination == .otherFileSystem ? OtherFileSystem.folder : "/tmp"
        try await withAgentFolder(in: folder) { folder in
            try await AgentPair.with { pair in
                let (laptop, pi) = (pair.laptop, pair.pi)
                let done = folder.appending("done")
                if destination == .nowhere {
                    try laptop.configure(#"after_ingest = "delete""#)
                } else {
                    try laptop.configure(
                        #"after_ingest = "move""#, #"after_ingest_folder = "\#(done)""#)
                }
                var dropped: [BytePath: FolderTree.Content] = [:]
                var caught = 0
                try await withAgents(pi) { _ in
                    for round in 0..<8 {
                        try await withAgents(laptop) { agents in
                            for number in 0..<12 {
                                let photo = SampleFiles.photo(
                                    Int.random(in: 1000...200_000, using: &random),
                                    using: &random)
                                let name = BytePath("round \(round)/\(number).jpg")
                                dropped[name] = .init(photo)
                                try laptop.drop(photo, as: name)
                            }
                            do {
                                try await eventually(within: .seconds(10)) {
                                    try !laptop.namesAside().isEmpty
                                }
                            } catch is NeverHappened {}  // it was too quick to be seen
                            let pause = Int.random(in: 0...12_000, using: &random)
                            try await Task.sleep(for: .microseconds(pause))
                            try await agents[0].kill()
                            caught += try laptop.namesAside().isEmpty ? 0 : 1
                        }
                        let content = try FolderTree(of: laptop.inbox).files
                        #expect(content.allSatisfy { dropped[$0.key] == $0.value })
                    }
                    try await withAgents(laptop) { _ in
                        try await laptop.awaitInbox([:])
                        try await laptop.awaitReceipts(dropped.count)
                        try await pi.awaitOutbox(FolderTree(files: dropped).below("laptop"))
                    }
                }
                print("AfterIngestTests: \(destination), \(caught) of 8 kills left files aside")
                if destination != .nowhere {
                    #expect(try FolderTree(of: done).files == dropped)
                    #expect(
                        try Folder(at: done).status(of: ".chute/moving") == nil
                            || Folder(at: done.appending(".chute/moving")).entries().isEmpty)
                }
            }
        }
    }

    /// The pi gets `a.jpg`; the nas is a member by then, and off when it is dropped.
    private func leaveOut(
        _ nas: AgentHome, whileGiving photo: [UInt8], from laptop: AgentHome, to pi: AgentHome
    ) async throws {
        try await withAgents(pi) { _ in
            try await withAgents(nas) { _ in
                try await eventually("two peers are known") {
                    try await laptop.status().peers.count == 2
                }
            }
            try laptop.drop(photo, as: "a.jpg")
            try await laptop.awaitInbox([:])
        }
    }

    /// Three homes that share a key; each dials the two others.
    private func withTrio(
        _ body: (AgentHome, AgentHome, AgentHome) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let homes = try ["laptop", "pi", "nas"].map { try AgentHome($0, in: folder) }
            let (one, two) = try FreePort.pair()
            let ports = [one.address, two.address, try FreePort.pair().0.address]
            for (index, home) in homes.enumerated() {
                let others = ports.enumerated().filter { $0.offset != index }.map(\.element)
                try await home.setUp(
                    "--listen", ports[index], "--connect",
                    BytePath(bytes: others.map(\.bytes).joined(separator: [0x2C])),
                    "--shared-key", folder.appending("space.key"))
            }
            try await body(homes[0], homes[1], homes[2])
        }
    }
}

extension AgentHome {
    /// Waits until the inbox holds exactly these files.
    fileprivate func awaitInbox(
        _ files: [BytePath: FolderTree.Content], within limit: Duration = .seconds(60)
    ) async throws {
        let names = Set(files.keys)
        try await eventually(within: limit, "\(names.sorted()) alone in the inbox of \(name)") {
            let status = try await chute("status").output
            return "there: \(try namesInInbox() ?? []), aside: \(try namesAside())\n" + status
        } holds: {
            try namesInInbox() == names && namesAside().isEmpty
        }
        #expect(try FolderTree(of: inbox).files == files)
    }

    /// `nil` where one went between the look at the folder and the look at it.
    private func namesInInbox() throws -> Set<BytePath>? {
        do {
            return try Set(FolderTree.paths(below: inbox))
        } catch let error as SystemError where error.isNotFound {
            return nil
        }
    }

    /// What lies in `.chute/taken`.
    fileprivate func namesAside() throws -> [BytePath] {
        guard try Folder(at: inbox).status(of: ".chute/taken") != nil else { return [] }
        return try Folder(at: inbox.appending(".chute/taken")).entries().map(\.name)
    }

    /// How many of the delivered ones the first peer's user removed.
    fileprivate func removedCount() async throws -> Int {
        struct Status: Decodable {
            struct Folder: Decodable { let peers: [Peer] }
            struct Peer: Decodable { let removed: Int }
            let folders: [Folder]
        }
        let json = try await chute("status", "--json").output
        let status = try JSONDecoder().decode(Status.self, from: Data(json.utf8))
        return status.folders.first?.peers.first?.removed ?? 0
    }
}
