import ChuteSystem
import Glibc
import TestSupport
import Testing

/// An inbox that somebody else writes to.
@Suite(.root, .timeLimit(.minutes(3)))
struct SecondUserTests {
    @Test func `what another user drops is shared, or said to be unreadable`() async throws {
        var random = SeededGenerator(seed: 8)
        let open = SampleFiles.photo(40_000, using: &random)
        let closed = SampleFiles.photo(50_000, using: &random)
        try await AgentPair.running { pair in
            _ = pair.laptop.inbox.withCString { chmod($0, 0o1777) }
            for (name, bytes, mode) in [
                (BytePath("open.jpg"), open, mode_t(0o644)), ("closed.jpg", closed, 0o600),
            ] {
                // Made elsewhere and moved in, with the owner that it keeps.
                let staged = pair.laptop.path.parent.appending(name)
                try SampleFiles.write(bytes, to: staged)
                _ = staged.withCString { chmod($0, mode) }
                try TestUser.other.own(staged)
                let target = pair.laptop.inbox.appending(name)
                let moved = staged.withCString { from in
                    target.withCString { to in rename(from, to) }
                }
                try #require(moved == 0)
            }
            let expected = FolderTree(files: ["laptop/open.jpg": .init(open)])
            try await pair.pi.awaitOutbox(expected)
            try await eventually("the closed one is listed") {
                try await pair.laptop.status().folder?.skipped.contains {
                    $0.path.hasSuffix("closed.jpg") && $0.reason == "unreadable"
                } ?? false
            }
            _ = pair.laptop.inbox.appending("closed.jpg").withCString { chmod($0, 0o644) }
            var both = expected
            both.files["laptop/closed.jpg"] = .init(closed)
            try await pair.pi.awaitOutbox(both)
            try await pair.laptop.awaitReceipts(2)
        }
    }
}
