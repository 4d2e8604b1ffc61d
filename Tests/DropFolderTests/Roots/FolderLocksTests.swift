import ChuteSystem
import TestSupport
import Testing

@testable import DropFolder

struct FolderLocksTests {
    private func withRoot(_ body: (BytePath) throws -> Void) async throws {
        try await withTemporaryDirectory { top in
            let path = top.appending("out")
            _ = try FolderRoot.establish(at: path, use: .init(.outbox, space: nil))
            try body(path)
        }
    }

    private func take(
        _ locks: FolderLocks, _ root: Int64, _ path: BytePath
    ) throws(SystemError) -> Bool {
        try locks.take(root, Folder(at: path))
    }

    @Test func `a folder is one agent's, until it lets go of it`() async throws {
        try await withRoot { path throws in
            let (one, other) = (FolderLocks(), FolderLocks())
            #expect(try take(one, 1, path))
            #expect(try take(one, 1, path))
            #expect(try !take(other, 7, path))
            #expect(other.isElsewhere(7) && !one.isElsewhere(1))
            one.release(1)
            #expect(try take(other, 7, path))
            #expect(!other.isElsewhere(7))
            #expect(try !take(one, 1, path))
        }
    }

    @Test func `a folder that came back as another one is locked anew`() async throws {
        try await withRoot { path throws in
            let (one, other) = (FolderLocks(), FolderLocks())
            #expect(try take(one, 1, path))
            try Folder(at: path.parent).rename("out", to: "away")
            _ = try FolderRoot.establish(at: path, use: .init(.outbox, space: nil))
            #expect(try take(one, 1, path))
            #expect(try !take(other, 1, path))
            // The lock on the first one went with it.
            #expect(try take(other, 2, path.parent.appending("away")))
        }
    }
}
