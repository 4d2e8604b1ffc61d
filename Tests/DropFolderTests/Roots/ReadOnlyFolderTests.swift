import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// Folders that cannot be written and have no `.chute`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: canMount, "needs a mount"))
struct ReadOnlyFolderTests {
    @Test func `an inbox that cannot be written is opened, known by its place`() async throws {
        try await withTemporaryDirectory { top in
            try await withTmpfs("size=4m") { point in
                try makeReadOnly(point)
                let chute = try await Chute.open(
                    identity: .paired, persistenceDirectory: top.appending("state"),
                    network: .offline)
                var configuration = Configuration()
                configuration.folders = [FolderSettings(collection: "c", inbox: point)]
                let log = Log(showsPriority: false)
                for _ in 0..<2 {
                    let folders = try await AgentFolders(configuration, chute, log: log)
                    guard case .place? = folders.all.first?.inbox?.identity else {
                        Issue.record("marked")
                        return
                    }
                }
            }
        }
    }

    @Test func `an outbox that cannot be written waits as such, until it can`() async throws {
        try await withTemporaryDirectory { top in
            let point = top.appending("out")
            try Folder(at: top).makeFolder("out")
            try mountTmpfs(point, "size=4m")
            do {
                try makeReadOnly(point)
                let bench = try await WriterBench(in: top)
                let document = try await bench.share("a.txt", "one")
                try await bench.withWriter { writer in
                    try await eventually("it waits") { await writer.isWaiting }
                    #expect(await writer.waitReason == .unwritable)
                    try makeWritable(point)
                    writer.events.post(.tick)
                    try await bench.awaitWant(of: document)
                    // Others are kept out from now on.
                    let isFree = try FolderLocks().take(1, Folder(at: point))
                    #expect(!isFree)
                }
            } catch {
                try unmount(point)
                throw error
            }
            try unmount(point)
        }
    }
}
