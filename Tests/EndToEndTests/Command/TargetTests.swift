import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@testable import chute

/// Paths that people name to `retract` and `redeliver`.
struct TargetTests {
    /// Folders `real/in` and `real/out` that are configured through a link, `way/in` and `way/out`.
    private func withFolders(
        _ body: (BytePath, (BytePath, BytePath) -> Target) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { top in
            for path in ["real", "real/in", "real/in/day 1", "real/out", "real/out/pi"] {
                try Folder.make(top.appending(path), mode: 0o700)
            }
            try link("real", at: top.appending("way"))
            try link("real/in/day 1", at: top.appending("day"))
            try link("../../out", at: top.appending("real/in/day 1/odd"))
            let folders = [
                FolderSettings(
                    collection: "pics", inbox: top.appending("way/in"),
                    outbox: top.appending("way/out"))
            ]
            try body(top) { Target($0, from: top.appending($1), in: folders) }
        }
    }

    private func link(_ target: BytePath, at path: BytePath) throws {
        let made = target.withCString { target in path.withCString { symlink(target, $0) } }
        guard made == 0 else { throw SystemError.current("symlink", path) }
    }

    @Test func `a relative path is from where the command is typed`() async throws {
        try await withFolders { top, target in
            let file = top.appending("way/in/day 1/a.jpg")
            #expect(target("a.jpg", "real/in/day 1") == .inbox(file))
            #expect(target("./a.jpg", "way/in/day 1") == .inbox(file))
            #expect(target("a.jpg", "day") == .inbox(file))
            #expect(target("day/a.jpg", "") == .inbox(file))
            #expect(target("../day 1/./a.jpg", "real/in/day 1") == .inbox(file))
            #expect(target(top.appending("real/in/day 1/a.jpg"), "") == .inbox(file))
            let cat = top.appending("way/out/pi/cat.jpg")
            #expect(target("pi/cat.jpg", "real/out") == .outbox(cat))
        }
    }

    @Test func `a folder is named as a file is, gone or there, and never all of them`()
        async throws
    {
        try await withFolders { top, target in
            #expect(target(".", "real/in/day 1") == .inbox(top.appending("way/in/day 1")))
            #expect(target("day 1/", "way/in") == .inbox(top.appending("way/in/day 1")))
            #expect(target("gone/x", "way/in") == .inbox(top.appending("way/in/gone/x")))
            #expect(target("gone/../y", "way/in") == .inbox(top.appending("way/in/y")))
            #expect(target(".", "way/in") == .whole(top.appending("way/in")))
            #expect(target("..", "way/in/day 1") == .whole(top.appending("way/in")))
            #expect(target("way/out", "") == .whole(top.appending("way/out")))
        }
    }

    @Test func `a link is itself, not what it leads to`() async throws {
        try await withFolders { top, target in
            #expect(target("odd", "way/in/day 1") == .inbox(top.appending("way/in/day 1/odd")))
            #expect(target("odd/pi", "way/in/day 1") == .outbox(top.appending("way/out/pi")))
        }
    }

    @Test func `what is no place here goes on as it is`() async throws {
        try await withFolders { top, target in
            #expect(target("5f3a9c0d", "way/in") == .other("5f3a9c0d"))
            #expect(target("./5f3a9c0d", "way/in") == .inbox(top.appending("way/in/5f3a9c0d")))
            try SampleFiles.write([1], to: top.appending("real/in/5f3a9c0d"))
            #expect(target("5f3a9c0d", "way/in") == .inbox(top.appending("way/in/5f3a9c0d")))
            #expect(target("./day 1/a.jpg", "") == .other("day 1/a.jpg"))
            #expect(target("/elsewhere/a", "") == .other("/elsewhere/a"))
        }
    }
}
