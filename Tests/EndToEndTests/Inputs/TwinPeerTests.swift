import ChuteSystem
import TestSupport
import Testing

/// Several devices that share what one receives: their names and their bytes meet there.
@Suite(.timeLimit(.minutes(3)))
struct TwinPeerTests {
    /// Two cameras of one name, and the home that both dial; the agents run.
    private struct Trio {
        let home: AgentHome
        let cameras: [AgentHome]
    }

    private func running(
        layout: BytePath = "{peer}/{path}", _ body: (Trio) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let ports = try FreePort.pair()
            let key = folder.appending("space.key")
            let home = try AgentHome("home", in: folder)
            try await home.setUp(
                "--listen", ports.0.address, "--shared-key", key, "--layout", layout)
            let cameras = try ["one", "two"].map { try AgentHome($0, in: folder) }
            for camera in cameras {
                let result = try await camera.chute(
                    "init", "--name", "camera", "--listen", "", "--connect", ports.0.address,
                    "--shared-key", key)
                try #require(result.exitCode == 0, "\(result.error)")
            }
            let trio = Trio(home: home, cameras: cameras)
            try await withAgents(home, cameras[0], cameras[1]) { _ in try await body(trio) }
        }
    }

    private func awaitReceipts(of camera: AgentHome, _ count: Int, at home: AgentHome)
        async throws
    {
        let id = try await home.status().device.id
        try await eventually("\(count) receipts of the home at \(camera.name)") {
            "\(try await camera.status().folder as Any)"
        } holds: {
            let peers = try await camera.status().folder?.peers ?? []
            return peers.first { $0.id == id }?.delivered == count
        }
    }

    @Test func `two devices of one name have a folder each`()
        async throws
    {
        var random = SeededGenerator(seed: 51)
        let photos = (0..<3).map { _ in SampleFiles.photo(40_000, using: &random) }
        try await running { trio in
            try trio.cameras[0].drop(photos[0], as: "DSC_0001.jpg")
            var expected = FolderTree(files: ["camera/DSC_0001.jpg": .init(photos[0])])
            try await trio.home.awaitOutbox(expected)
            try trio.cameras[1].drop(photos[1], as: "DSC_0001.jpg")
            expected.files["camera (2)/DSC_0001.jpg"] = .init(photos[1])
            try await trio.home.awaitOutbox(expected)
            for camera in trio.cameras { try await awaitReceipts(of: camera, 1, at: trio.home) }
            try trio.cameras[1].drop(photos[2], as: "DSC_0002.jpg")
            expected.files["camera (2)/DSC_0002.jpg"] = .init(photos[2])
            try await trio.home.awaitOutbox(expected)
            try await awaitReceipts(of: trio.cameras[1], 2, at: trio.home)
            #expect(try await trio.home.status().peers.map(\.name) == ["camera", "camera"])
        }
    }

    @Test func `the same bytes from two devices are two files, and each sender knows of its own`()
        async throws
    {
        var random = SeededGenerator(seed: 52)
        // One at once from both, one that is there already when the second comes; one of more
        // than a piece.
        let together = SampleFiles.photo(3_000_000, using: &random)
        let later = SampleFiles.photo(70_000, using: &random)
        try await running { trio in
            for camera in trio.cameras { try camera.drop(together, as: "together.jpg") }
            try trio.cameras[0].drop(later, as: "later.jpg")
            try await awaitReceipts(of: trio.cameras[0], 2, at: trio.home)
            try trio.cameras[1].drop(later, as: "sub/later.jpg")
            for camera in trio.cameras { try await awaitReceipts(of: camera, 2, at: trio.home) }
            // Who came first has the plain folder.
            let paths = try FolderTree.paths(below: trio.home.outbox)
            let second = try #require(
                paths.first {
                    $0.lastComponent == "later.jpg"
                        && $0.components.count == 3
                })
            let folders: [BytePath] = [BytePath(bytes: second.components[0])]
            #expect(paths.count == 4)
            let tree = try FolderTree(of: trio.home.outbox)
            #expect(tree.files[folders[0].appending("sub/later.jpg")] == .init(later))
            #expect(tree.files.values.count { $0 == .init(later) } == 2)
            #expect(tree.files.values.count { $0 == .init(together) } == 2)
            try expectOwnInodes(paths, in: trio.home.outbox)
        }
    }

    /// A change in one name that a user sees must not show in another.
    private func expectOwnInodes(_ paths: [BytePath], in outbox: BytePath) throws {
        let states = try paths.map { try FileStatus.of(outbox.appending($0)) }
        #expect(Set(states.map(\.inode)).count == paths.count)
        #expect(states.allSatisfy { $0.links == 1 })
    }

    @Test func `files of two devices that want one name stand beside each other`() async throws {
        var random = SeededGenerator(seed: 53)
        let photos = (0..<2).map { _ in SampleFiles.photo(40_000, using: &random) }
        let same = SampleFiles.photo(50_000, using: &random)
        try await running(layout: "{path}") { trio in
            for (camera, photo) in zip(trio.cameras, photos) {
                try camera.drop(photo, as: "DSC_0001.jpg")
                try camera.drop(same, as: "same.jpg")
            }
            for camera in trio.cameras { try await awaitReceipts(of: camera, 2, at: trio.home) }
            let tree = try FolderTree(of: trio.home.outbox)
            // The same bytes under the same name are there already: one file for both.
            #expect(
                Set(tree.files.keys) == ["DSC_0001.jpg", "DSC_0001 (2).jpg", "same.jpg"])
            #expect(
                Set([tree.files["DSC_0001.jpg"], tree.files["DSC_0001 (2).jpg"]])
                    == Set(photos.map { FolderTree.Content($0) }))
            #expect(tree.files["same.jpg"] == .init(same))
            try expectOwnInodes(Array(tree.files.keys), in: trio.home.outbox)
        }
    }
}
