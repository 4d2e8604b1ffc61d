import ChuteSystem
import TestSupport
import Testing

@testable import DropFolder

@Suite(.timeLimit(.minutes(2)))
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

    @Test func `who lets go of a folder still knows that another agent has one`() async throws {
        try await withRoot { path throws in
            let (one, other) = (FolderLocks(), FolderLocks())
            #expect(try take(one, 1, path))
            #expect(try !take(other, 1, path))
            other.letGo(1)
            #expect(other.isElsewhere(1))
            one.letGo(1)
            #expect(try take(other, 1, path))
            #expect(!other.isElsewhere(1))
        }
    }

    @Test func `the lock on an inbox that goes away is let go of, and taken anew`() async throws {
        try await withTemporaryDirectory { top in
            let path = top.appending("in")
            let root = try FolderRoot.establish(at: path, use: .init(.inbox, space: nil))
            let record = FolderRecord(
                kind: .inbox, collection: "c", path: path, identity: root.identity, root: 1)
            let away = top.appending("away")
            let locks = FolderLocks()
            // Locked at the start, gone before anything was looked at.
            #expect(try take(locks, 1, path))
            try Folder(at: top).rename("in", to: "away")
            #expect(try isLocked(away))
            var settings = InboxWatcher.Settings()
            settings.checkPause = .milliseconds(100)
            let watcher = InboxWatcher(
                of: record, filter: InboxFilter(), settings: settings, locks: locks,
                log: Log(showsPriority: false))
            try await withThrowingTaskGroup { group in
                group.addTask { await watcher.run() }
                for _ in 0..<2 {
                    try await eventually("it is free") { try !isLocked(away) }
                    try Folder(at: top).rename("away", to: "in")
                    try await eventually("it is locked again") { try isLocked(path) }
                    try Folder(at: top).rename("in", to: "away")
                }
                group.cancelAll()
            }
        }
    }

    private func isLocked(_ path: BytePath) throws -> Bool {
        try Folder(at: path).open(".chute/lock", FileDescriptor.readOnly).isLocked()
    }
}
