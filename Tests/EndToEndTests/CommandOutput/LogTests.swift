import ChuteSystem
import Glibc
import TestSupport
import Testing

struct LogTests {
    /// What a log writes to a file.
    private func written(
        level: Log.Level, showsPriority: Bool, _ body: (Log) -> Void
    ) async throws -> String {
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(
                folder.appending("log"), O_RDWR | O_CREAT, mode: 0o600)
            body(
                Log(
                    level: level, stream: StandardStream(descriptor: file.raw),
                    showsPriority: showsPriority))
            let bytes = try file.read(count: 4096, at: 0)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test func `a message is one line whatever is in it`() async throws {
        let text = try await written(level: .notice, showsPriority: false) { log in
            log.error("a\nforged \u{1B}[1A\u{202E}b é")
        }
        #expect(text == "a\\u{a}forged \\u{1b}[1A\\u{202e}b é\n")
    }

    @Test func `less urgent messages than the level are not made`() async throws {
        let text = try await written(level: .warning, showsPriority: true) { log in
            log.error("e")
            log.warning("w")
            log.notice("n")
            log.debug("d")
        }
        #expect(text == "<3>e\n<4>w\n")
    }

    @Test func `one line per key in each interval is permitted`() {
        var limit = LogLimit<String>(interval: .seconds(60))
        var permitted: [Bool] = []
        for (key, seconds) in [("a", 5), ("a", 64), ("b", 64), ("a", 65)] {
            permitted.append(limit.permits(key, now: .seconds(seconds)))
        }
        #expect(permitted == [true, false, true, true])
    }
}
