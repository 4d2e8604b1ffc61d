import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What becomes of files on their way out of the inbox where the disk refuses.
@Suite(.timeLimit(.minutes(1)))
struct InboxTakerFaultTests {
    /// `O_PATH`, which Glibc does not give.
    private static let pathOnly: Int32 = 0o10_000_000

    /// Makes every sync of the folder fail, and nothing else: of a descriptor that is only a path.
    private func breakSync(of folder: TakenFolder, at path: BytePath) throws {
        let bare = try FileDescriptor.open(path, Self.pathOnly | O_DIRECTORY)
        guard dup2(bare.raw, folder.folder.descriptor.raw) >= 0 else {
            throw SystemError.current("dup2", path)
        }
        #expect(throws: SystemError.self) { try folder.folder.sync() }
    }

    @Test func `a file whose leaving was not synced is settled by the next pass`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try await TakerBench(at: top)
            let row = try await bench.drop("a.txt", "one")
            let taker = bench.taker(.delete)
            // What an earlier start left is dealt with.
            bench.answers.set(.init(answer: .removed))
            try await taker.pass()
            bench.answers.set(.init(answer: .delivered))
            let record = try await bench.begin(row)
            try bench.setAside(record)
            let aside = try #require(try TakenFolder(in: bench.inbox))
            try breakSync(of: aside, at: bench.path.appending(TakenFolder.path))
            try await taker.finish([record], aside, to: nil)
            #expect(try await bench.records().map(\.stage) == [.leaving])
            try await taker.pass()
            #expect(try await bench.records().isEmpty)
            #expect(try await bench.row("a.txt")?.isTaken == true)
            #expect(try bench.files().isEmpty)
        }
    }
}
