import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Devices that do not know what time it is.
@Suite(.timeLimit(.minutes(3)))
struct ClockTests {
    /// When the agent starts, by its own clock.
    enum Start: Int, CaseIterable, Sendable {
        case beforeTheBeginning = -5
        case beginning = 5
        /// The year 9999 ends while it runs.
        case end = 253_402_300_797
    }

    @Test(arguments: Start.allCases)
    func `a device whose clock is wrong shares both ways, is named, and goes on once it is right`(
        from start: Start
    ) async throws {
        var random = SeededGenerator(seed: 91)
        let photos = (0..<6).map { _ in SampleFiles.photo(50_000, using: &random) }
        try await AgentPair.with { pair in
            let laptop = pair.laptop
            var pi = pair.pi
            var expected = (laptop: FolderTree(), pi: FolderTree())
            func exchange(_ photos: ArraySlice<[UInt8]>, as name: String, _ count: Int)
                async throws
            {
                let bytes = Array(photos)
                try laptop.drop(bytes[0], as: BytePath(name))
                try pi.drop(bytes[1], as: BytePath(name))
                expected.pi.files[BytePath("laptop/\(name)")] = .init(bytes[0])
                expected.laptop.files[BytePath("pi/\(name)")] = .init(bytes[1])
                try await pi.awaitVersions(expected.pi)
                try await laptop.awaitVersions(expected.laptop)
                for home in [laptop, pi] {
                    try await eventually("\(count) receipts at \(home.name)") {
                        "\(try await home.status().folder as Any)"
                    } holds: {
                        let folder = try await home.status().folder
                        return folder?.pending == 0 && folder?.shared == count
                            && folder?.peers.first?.delivered == count
                    }
                }
            }
            try await withAgents(laptop) { _ in
                pi.variables = FakeClock.variables(
                    at: start.rawValue, try FakeClock.make(in: pi.path.parent))
                try await withAgents(pi) { _ in
                    try await exchange(photos[0..<2], as: "first.jpg", 1)
                    for (home, peer) in [(laptop, "pi"), (pi, "laptop")] {
                        let skipped = try #require(try await home.status().folder?.skipped)
                        #expect(skipped.map(\.path) == [peer])
                        #expect(skipped.map(\.reason) == ["clock"])
                        #expect(skipped.allSatisfy { $0.detail.contains(" years ") })
                    }
                }
                // What the other said of the time did not become the own time.
                #expect(try abs(lastStamp(of: laptop) - Double(time(nil))) < 3600)
                let ofPi = try lastStamp(of: pi)
                #expect(start != .end ? ofPi < 86_400 : ofPi > 250_000_000_000)

                pi.variables = [:]
                try await withAgents(pi) { _ in
                    try await exchange(photos[2..<4], as: "second.jpg", 2)
                    // A new version of what was shared when the time was wrong.
                    try await exchange(photos[4..<6], as: "first.jpg", 2)
                    for home in [laptop, pi] {
                        #expect(try await home.status().folder?.skipped.isEmpty == true)
                    }
                }
            }
        }
    }

    /// The stamp of the last change that the device wrote or heard of in time, in seconds.
    private func lastStamp(of home: AgentHome) throws -> Double {
        let database = try Connection(
            path: home.path.appending("state/chute.db"), mode: .readOnly)
        let bytes = try database.prepare("SELECT value FROM meta WHERE key = 'stamp'")
            .first { $0.bytes(0) }
        let stamp = try bytes.map { try CBOR.decode($0).uint } ?? nil
        return Double(try #require(stamp) >> 16) / 1000
    }
}

/// Another wall clock for one program: a library that is loaded before all else, and adds to what
/// the kernel says. Pauses and the times of files are as they are.
enum FakeClock {
    private static let source = """
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t clock, struct timespec *now) {
            int result = syscall(SYS_clock_gettime, clock, now);
            const char *lead = getenv("TEST_CLOCK_LEAD");
            if (clock == CLOCK_REALTIME && lead) now->tv_sec += atoll(lead);
            return result;
        }
        time_t time(time_t *seconds) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (seconds) *seconds = now.tv_sec;
            return now.tv_sec;
        }
        int gettimeofday(struct timeval *now, void *zone) {
            struct timespec exact;
            clock_gettime(CLOCK_REALTIME, &exact);
            now->tv_sec = exact.tv_sec;
            now->tv_usec = exact.tv_nsec / 1000;
            return 0;
        }
        """

    /// Makes the library in `folder`, with the compiler that Swift brings along.
    static func make(in folder: BytePath) throws -> BytePath {
        let file = folder.appending("clock.c")
        try SampleFiles.write(Array(source.utf8), to: file)
        let library = folder.appending("clock.so")
        let run = try CapturedRun(
            "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", library, file])
        guard run.end == .exited(0) else { throw NeverHappened(what: "a library \(library)") }
        _ = library.withCString { chmod($0, 0o755) }
        return library
    }

    /// The clock of whoever is started with these stands at `seconds` now, and goes on.
    static func variables(at seconds: Int, _ library: BytePath) -> [String: BytePath] {
        ["LD_PRELOAD": library, "TEST_CLOCK_LEAD": BytePath("\(seconds - time(nil))")]
    }
}
