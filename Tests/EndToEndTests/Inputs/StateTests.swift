import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Homes and folders that are not as they should be.
@Suite(.timeLimit(.minutes(3)))
struct StateTests {
    @Test func `a damaged or newer store is said and left as it is`() async throws {
        try await AgentPair.with { pair in
            let home = pair.laptop
            try await withAgents(home) { _ in }
            let path = home.path.appending("state/chute.db")
            let garbage = Array(repeating: UInt8(0x41), count: 8192)
            for name: BytePath in ["chute.db-wal", "chute.db-shm"] {
                try Folder(at: path.parent).remove(name)
            }
            let good = try FolderTree.Content(of: path)
            try overwrite(path, garbage, home)
            let run = try await home.chute("run")
            #expect(run.exitCode == 78)
            #expect(run.error.contains("damaged"))
            #expect(try FolderTree.Content(of: path) == .init(garbage))
            #expect(good.byteCount > 0)
        }
    }

    private func overwrite(_ path: BytePath, _ bytes: [UInt8], _ home: AgentHome) throws {
        let file = try FileDescriptor.open(path, O_WRONLY | O_TRUNC)
        try file.write(bytes, at: 0)
    }

    @Test func `a second agent on the home or on its folders is refused`() async throws {
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { _ in
                let second = try await pair.laptop.chute("run")
                #expect(second.exitCode == 75)
                let init_ = try await pair.pi.chute("config", "path")
                #expect(init_.exitCode == 0)
                let other = try AgentHome("other", in: pair.laptop.path.parent)
                try await other.setUp(
                    "--listen", FreePort.pair().0.address, "--inbox", pair.laptop.inbox)
                let third = try await other.chute("run")
                #expect(third.exitCode == 75, "\(third.error)")
            }
        }
    }

    @Test func `a copied home is noticed, a moved one runs when told so`() async throws {
        try await AgentPair.with { pair in
            let home = pair.laptop
            try await withAgents(home) { _ in }
            let state = try Folder(at: home.path.appending("state"))
            let key = try FileDescriptor.open(
                home.path.appending("state/device.key"), FileDescriptor.readOnly)
            let bytes = try key.read(count: 4096, at: 0)
            try state.remove("device.key")
            let path = home.path.appending("state/device.key")
            try SampleFiles.write(bytes, to: path)
            try home.user.own(path)
            let run = try await home.chute("run")
            #expect(run.exitCode == 78)
            #expect(run.error.contains("--moved"))
        }
    }

    @Test func `an outbox that is away is waited for, and gets what came meanwhile`()
        async throws
    {
        var random = SeededGenerator(seed: 31)
        let photos = (0..<2).map { _ in SampleFiles.photo(60_000, using: &random) }
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop, pair.pi) { _ in
                try pair.laptop.drop(photos[0], as: "one.jpg")
                try await pair.pi.awaitOutbox(
                    FolderTree(files: ["laptop/one.jpg": .init(photos[0])]))
            }
            let home = try Folder(at: pair.pi.path)
            try home.rename("outbox", to: "elsewhere")
            try await withAgents(pair.laptop, pair.pi) { _ in
                try pair.laptop.drop(photos[1], as: "two.jpg")
                try await eventually("the outbox is waited for") {
                    try await pair.pi.status().folders.first?.state.hasPrefix("waiting") ?? false
                }
                #expect(try home.status(of: "outbox") == nil)
                try home.rename("elsewhere", to: "outbox")
                try await pair.pi.awaitOutbox(
                    FolderTree(files: [
                        "laptop/one.jpg": .init(photos[0]), "laptop/two.jpg": .init(photos[1]),
                    ]))
            }
        }
    }
}
