import ChuteSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import DropFolder

@Suite(.timeLimit(.minutes(1)))
struct NudgesTests {
    /// How often it was looked, and how often inotify was refused.
    private final class Counts: Sendable {
        let looks = Mutex(0)
        let refusals = Mutex(0)
    }

    private func withNudges(
        in folder: BytePath, refusing count: Int, _ change: (inout Nudges) -> Void,
        _ body: (Counts) async throws -> Void
    ) async throws {
        let counts = Counts()
        var nudges = Nudges(folder: folder, name: "nudge", log: Log(showsPriority: false))
        nudges.makeInotify = { () throws(SystemError) in
            let isRefused = counts.refusals.withLock { refusals in
                refusals += 1
                return refusals <= count
            }
            if isRefused { throw SystemError(code: EMFILE, call: "inotify_init1") }
            return try Inotify()
        }
        change(&nudges)
        let running = Task { [nudges] in
            try await nudges.run { counts.looks.withLock { $0 += 1 } }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(counts)) } catch { result = .failure(error) }
        running.cancel()
        let end = await running.result
        #expect(throws: CancellationError.self) { try end.get() }
        try result.get()
    }

    @Test func `without inotify it looks again and again`() async throws {
        try await withTemporaryDirectory { folder in
            try await withNudges(in: folder, refusing: .max) {
                $0.pollPause = .milliseconds(1)
            } _: { counts in
                try await eventually("some looks") { counts.looks.withLock { $0 } > 3 }
            }
        }
    }

    @Test func `what is written beside it and stays open wakes nobody`() async throws {
        try await withTemporaryDirectory { folder in
            let database = try Folder(at: folder).open(
                "chute.db-wal", FileDescriptor.readWriteCreate, mode: 0o600)
            let inotify = try Inotify()
            defer { inotify.stop() }
            let nudges = Nudges(folder: folder, name: "nudge", log: Log(showsPriority: false))
            _ = try inotify.watch(path: folder, for: Nudges.asking)
            for page in 0..<10 { try database.write([1], at: UInt64(page)) }
            let nudge = try Folder(at: folder).open(
                nudges.name, FileDescriptor.readWriteCreate, mode: 0o600)
            try nudge.write([1], at: 0)
            _ = consume nudge
            let events = try #require(await inotify.next())
            #expect(events.map(\.name) == [nudges.name])
            try database.write([2], at: 0)
        }
    }

    @Test func `it goes back to inotify once an instance is free`() async throws {
        try await withTemporaryDirectory { folder in
            try await withNudges(in: folder, refusing: 2) {
                // So rarely that only an event can be in time.
                $0.pollPause = .milliseconds(1)
                $0.retryPause = .milliseconds(1)
            } _: { counts in
                try await eventually("inotify was had") {
                    counts.refusals.withLock { $0 } == 3
                }
                // The watch may not be there at once: each touch is one chance.
                let before = counts.looks.withLock { $0 }
                try await eventually("a touch is noticed") {
                    let file = try Folder(at: folder).open(
                        "nudge", FileDescriptor.readWriteCreate, mode: 0o600)
                    try file.write([1], at: 0)
                    _ = consume file
                    return counts.looks.withLock { $0 } > before + 1
                }
                #expect(counts.refusals.withLock { $0 } == 3)
            }
        }
    }
}
