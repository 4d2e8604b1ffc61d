import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Folders that are not there, cannot be written, or are full.
@Suite(.timeLimit(.minutes(4)))
struct MissingFolderTests {
    private func awaitState(_ state: String, at home: AgentHome) async throws {
        try await eventually(within: .seconds(60), "\(home.name) says \(state)") {
            "\(try await home.status().folder as Any)"
        } holds: {
            try await home.status().folder?.state.contains(state) ?? false
        }
    }

    private func rename(_ path: BytePath, to name: BytePath) throws {
        try Folder(at: path.parent).rename(path.lastComponent, to: name)
    }

    private func isThere(_ path: BytePath) throws -> Bool {
        try Folder(at: path.parent).status(of: path.lastComponent) != nil
    }

    /// When the folder goes.
    enum Moment: String, CaseIterable, Sendable { case beforeTheStart, whileRunning }

    @Test(arguments: Moment.allCases)
    func `an outbox that is gone is waited for`(moment: Moment) async throws {
        var random = SeededGenerator(seed: 21)
        let photos = (0..<2).map { _ in SampleFiles.photo(40_000, using: &random) }
        try await AgentPair.with { pair in
            let outbox = pair.pi.outbox
            func check() async throws {
                try pair.laptop.drop(photos[1], as: "second.jpg")
                try await awaitState("waiting", at: pair.pi)
                try await eventually("the second is shared") {
                    try await pair.laptop.status().folder?.shared == 2
                }
                #expect(try !isThere(outbox))
                #expect(try await pair.laptop.status().folder?.pending == 1)
                try rename(pair.pi.path.appending("away"), to: "outbox")
                try await pair.pi.awaitOutbox(
                    FolderTree(files: [
                        "laptop/first.jpg": .init(photos[0]),
                        "laptop/second.jpg": .init(photos[1]),
                    ]))
                try await pair.laptop.awaitReceipts(2)
                try await awaitState("running", at: pair.pi)
            }
            try await withAgents(pair.laptop) { _ in
                try await withAgents(pair.pi) { _ in
                    try pair.laptop.drop(photos[0], as: "first.jpg")
                    try await pair.laptop.awaitReceipts(1)
                    guard moment == .whileRunning else { return }
                    try rename(outbox, to: "away")
                    try await check()
                }
                guard moment == .beforeTheStart else { return }
                try rename(outbox, to: "away")
                try await withAgents(pair.pi) { _ in try await check() }
            }
        }
    }

    @Test func `a file whose staging folder was removed arrives after the next start`() async throws
    {
        var random = SeededGenerator(seed: 23)
        let photos = (0..<2).map { _ in SampleFiles.photo(40_000, using: &random) }
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { _ in
                try await withAgents(pair.pi) { _ in
                    try pair.laptop.drop(photos[0], as: "first.jpg")
                    try await pair.laptop.awaitReceipts(1)
                    try Folder(at: pair.pi.outbox.appending(".chute")).removeTree("staging")
                    try pair.laptop.drop(photos[1], as: "second.jpg")
                    try await eventually("the second waits") {
                        try await pair.pi.status().folder?.skippedTotal == ["not-mounted": 1]
                    }
                }
                try await withAgents(pair.pi) { _ in
                    try await pair.pi.awaitOutbox(
                        FolderTree(files: [
                            "laptop/first.jpg": .init(photos[0]),
                            "laptop/second.jpg": .init(photos[1]),
                        ]))
                    try await pair.laptop.awaitReceipts(2)
                }
            }
        }
    }

    @Test(arguments: Moment.allCases)
    func `nothing counts as removed from an inbox that is gone`(moment: Moment) async throws {
        var random = SeededGenerator(seed: 22)
        let photos = (0..<2).map { _ in SampleFiles.photo(40_000, using: &random) }
        try await AgentPair.with { pair in
            func check() async throws {
                try await awaitState("waiting", at: pair.laptop)
                #expect(try !isThere(pair.laptop.inbox))
                try rename(pair.laptop.path.appending("away"), to: "inbox")
                try await awaitState("running", at: pair.laptop)
                try pair.laptop.drop(photos[1], as: "second.jpg")
                try await pair.pi.awaitOutbox(
                    FolderTree(files: [
                        "laptop/first.jpg": .init(photos[0]),
                        "laptop/second.jpg": .init(photos[1]),
                    ]))
                // A file that was believed to be removed would be a new document now.
                try await pair.laptop.awaitReceipts(2)
            }
            try await withAgents(pair.pi) { _ in
                try await withAgents(pair.laptop) { _ in
                    try pair.laptop.drop(photos[0], as: "first.jpg")
                    try await pair.laptop.awaitReceipts(1)
                    guard moment == .whileRunning else { return }
                    try rename(pair.laptop.inbox, to: "away")
                    try await check()
                }
                guard moment == .beforeTheStart else { return }
                try rename(pair.laptop.inbox, to: "away")
                try await withAgents(pair.laptop) { _ in try await check() }
            }
        }
    }

    @Test func `a read-only outbox is said, and delivered to once it can be written`()
        async throws
    {
        var random = SeededGenerator(seed: 23)
        let photo = SampleFiles.photo(40_000, using: &random)
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop, pair.pi) { _ in
                let peer = pair.pi.outbox
                func setMode(_ mode: mode_t) { _ = peer.withCString { chmod($0, mode) } }
                try await eventually("the agent has opened its outbox") {
                    let staging: BytePath = ".chute/staging"
                    let outbox = try Folder(at: peer)
                    guard try outbox.status(of: staging) != nil else { return false }
                    return try !outbox.folder(at: staging).entries().isEmpty
                }
                // The agent is no root, who would not notice.
                setMode(0o555)
                try pair.laptop.drop(photo, as: "photo.jpg")
                try await eventually("the file waits with a reason") {
                    "\(try await pair.pi.status().folder as Any)"
                } holds: {
                    try await pair.pi.status().folder?.skippedTotal["unwritable"] == 1
                }
                #expect(try FolderTree(of: peer).files.isEmpty)
                setMode(0o755)
                try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/photo.jpg": .init(photo)]))
                try await pair.laptop.awaitReceipts(1)
                #expect(try await pair.pi.status().folder?.skippedTotal.isEmpty == true)
            }
        }
    }

    @Test(.mounts)
    func `an outbox on a read-only file system is said, and taken up once it is not`()
        async throws
    {
        var random = SeededGenerator(seed: 25)
        let photos = (0..<2).map { _ in SampleFiles.photo(40_000, using: &random) }
        try await AgentPair.with { pair in
            try await pair.pi.withSmallOutbox(megabytes: 16) {
                func remount(_ mode: BytePath) throws {
                    let run = try CapturedRun(
                        "/usr/bin/env",
                        ["mount", "-o", BytePath("remount,\(mode)"), pair.pi.outbox])
                    try #require(run.end == .exited(0))
                }
                try await withAgents(pair.laptop) { _ in
                    try pair.laptop.drop(photos[0], as: "first.jpg")
                    try await withAgents(pair.pi) { _ in
                        try await pair.laptop.awaitReceipts(1)
                    }
                    try remount("ro")
                    try await withAgents(pair.pi) { _ in
                        try pair.laptop.drop(photos[1], as: "second.jpg")
                        try await awaitState("waiting: unwritable", at: pair.pi)
                        #expect(try await pair.laptop.status().folder?.pending == 1)
                        try remount("rw")
                        try await pair.pi.awaitOutbox(
                            FolderTree(files: [
                                "laptop/first.jpg": .init(photos[0]),
                                "laptop/second.jpg": .init(photos[1]),
                            ]))
                        try await pair.laptop.awaitReceipts(2)
                        try await awaitState("running", at: pair.pi)
                    }
                }
            }
        }
    }

    @Test(.mounts) func `a full outbox is said, and filled once there is space`() async throws {
        var random = SeededGenerator(seed: 24)
        let photo = SampleFiles.photo(6_000_000, using: &random)
        let small = SampleFiles.photo(20_000, using: &random)
        try await AgentPair.with { pair in
            try await pair.pi.withSmallOutbox(megabytes: 16) {
                let filler = pair.pi.outbox.appending("filler")
                try SampleFiles.write([UInt8](repeating: 1, count: 12 << 20), to: filler)
                let filled = FolderTree.Content([UInt8](repeating: 1, count: 12 << 20))
                try await withAgents(pair.laptop, pair.pi) { _ in
                    try pair.laptop.drop(photo, as: "photo.jpg")
                    try await eventually("the lack of space is said") {
                        "\(try await pair.pi.status().folder as Any)"
                    } holds: {
                        try await pair.pi.status().folder?.skippedTotal["no-space"] == 1
                    }
                    // What fits arrives meanwhile.
                    try pair.laptop.drop(small, as: "small.jpg")
                    try await pair.pi.awaitOutbox(
                        FolderTree(files: ["filler": filled, "laptop/small.jpg": .init(small)]))
                    try Folder(at: pair.pi.outbox).remove("filler")
                    try await pair.pi.awaitOutbox(
                        FolderTree(files: [
                            "laptop/photo.jpg": .init(photo), "laptop/small.jpg": .init(small),
                        ]))
                    try await pair.laptop.awaitReceipts(2)
                }
            }
        }
    }
}

extension AgentHome {
    /// Calls `body` with a file system of this size mounted at the outbox.
    func withSmallOutbox<Result>(
        megabytes: Int, _ body: () async throws -> Result
    ) async throws -> Result {
        let number = user.number ?? geteuid()
        try Self.system([
            "mount", "-t", "tmpfs", "-o",
            BytePath("size=\(megabytes)m,mode=755,uid=\(number),gid=\(number)"), "tmpfs", outbox,
        ])
        let result: Result
        do {
            try configure(#"min_free = "1 MiB""#)
            result = try await body()
        } catch {
            try Self.system(["umount", "-l", outbox])
            throw error
        }
        try Self.system(["umount", "-l", outbox])
        return result
    }

    static let canMount = (try? system(["unshare", "--mount", "true"])) != nil

    private static func system(_ words: [BytePath]) throws {
        let run = try CapturedRun("/usr/bin/env", words)
        guard run.end == .exited(0) else { throw NeverHappened(what: "\(words)") }
    }
}

extension Trait where Self == ConditionTrait {
    static var mounts: Self {
        .enabled(if: TestUser.isRoot && AgentHome.canMount, "needs root and a mount")
    }
}
