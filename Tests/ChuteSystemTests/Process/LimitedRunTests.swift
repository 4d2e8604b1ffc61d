import ChuteSystem
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LimitedRunTests {
    private static let executor = QueueExecutor(label: "chute.test.limited")
    private static let roomy = ProcessLimits(
        time: .seconds(30), processorTime: .seconds(30), memory: 1 << 30, fileSize: 1 << 20)

    /// Runs a shell script with `/dev/null` as its input.
    private static func run(
        _ script: BytePath, _ limits: ProcessLimits = roomy,
        environment: [String: BytePath] = [:], on executor: QueueExecutor = executor
    ) async throws -> LimitedRun {
        let nothing = try FileDescriptor.open("/dev/null", O_RDONLY)
        return try await LimitedRun.run(
            "/bin/bash", ["-c", script], environment: ProcessEnvironment(environment),
            limits: limits, input: nothing.raw, on: executor)
    }

    private static func limits(_ change: (inout ProcessLimits) -> Void) -> ProcessLimits {
        var limits = roomy
        change(&limits)
        return limits
    }

    @Test func `a program's end and what it writes are told`() async throws {
        let run = try await Self.run("echo out; echo err >&2; exit 7")
        #expect(run.end == .exited(7))
        #expect(run.output == Array("out\n".utf8))
        #expect(run.error == Array("err\n".utf8))
    }

    @Test func `it gets its streams, the environment that is given, and nothing else`()
        async throws
    {
        // Not closed on exec, as other libraries in the process leave theirs.
        let leaked = dup(0)
        defer { close(leaked) }
        let run = try await Self.run(
            "/usr/bin/env; cd /proc/self/fd; echo *; grep NoNewPrivs ../status; ulimit -c",
            environment: ["A": "1"])
        let lines = String(decoding: run.output, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("A=1"))
        #expect(!lines.contains { $0.hasPrefix("HOME=") || $0.hasPrefix("PATH=/") })
        // The last is the folder that the shell lists.
        #expect(lines.contains("0 1 2 3") || lines.contains("0 1 2"))
        #expect(lines.contains("NoNewPrivs:\t1"))
        #expect(lines.last == "0")
    }

    @Test func `a program that is not there, or is none, is an error`() async throws {
        let nothing = try FileDescriptor.open("/dev/null", O_RDONLY)
        for (path, code) in [(BytePath("/nonexistent"), ENOENT), ("/etc/passwd", EACCES)] {
            let error = try await #require(throws: SystemError.self) {
                try await LimitedRun.run(
                    path, [], environment: ProcessEnvironment([:]), limits: Self.roomy,
                    input: nothing.raw, on: Self.executor)
            }
            #expect(error.code == code)
        }
    }

    @Test func `what sleeps too long is ended`() async throws {
        let run = try await Self.run(
            "exec sleep 1000",
            Self.limits { $0.time = .milliseconds(100) },
            environment: ["PATH": "/bin:/usr/bin"])
        #expect(run.end == .timeIsUp)
    }

    @Test func `what computes too long is ended, also where it does not listen`() async throws {
        let limits = Self.limits { $0.processorTime = .seconds(1) }
        #expect(try await Self.run("while :; do :; done", limits).end == .processorTimeIsUp)
        let deaf = try await Self.run("trap '' XCPU; while :; do :; done", limits)
        #expect(deaf.end == .processorTimeIsUp)
    }

    @Test func `what takes too much memory gets none`() async throws {
        let run = try await Self.run(
            "x=$(head -c 200000000 /dev/zero | tr '\\0' a); echo ${#x}",
            Self.limits { $0.memory = 64 << 20 }, environment: ["PATH": "/bin:/usr/bin"])
        #expect(run.end != .exited(0))
        #expect(run.output.isEmpty)
    }

    @Test func `what writes too much is ended`() async throws {
        let run = try await Self.run(
            "while :; do echo 0123456789; done", Self.limits { $0.fileSize = 1000 })
        #expect(run.end == .fileIsTooLarge)
        #expect(run.output.count == 1000)
    }

    @Test func `of a flood of complaints the beginning is kept`() async throws {
        let run = try await Self.run(
            "trap '' XFSZ; for i in {1..20000}; do echo 0123456789 >&2; done; echo end")
        #expect(run.end == .exited(0))
        #expect(run.output == Array("end\n".utf8))
        #expect(run.error.count == 64 << 10)
        #expect(run.error.starts(with: Array("0123456789\n".utf8)))
    }

    @Test func `it cannot connect and cannot signal`() async throws {
        let run = try await Self.run(
            "kill -0 $PPID && echo signalled; exec 3<>/dev/udp/127.0.0.1/9 && echo connected; :")
        #expect(run.output.isEmpty)
        #expect(String(decoding: run.error, as: UTF8.self).contains("Permission denied"))
    }

    @Test(arguments: [
        BytePath("exit 0"), "wait", "set -m; setsid /bin/sleep 1000 & wait", "exec /bin/sleep 1000",
    ])
    func `a program that the program started does not outlive it: a sleep was left`(
        script: BytePath
    ) async throws {
        try await withTemporaryDirectory { folder in
            let mark = folder.appending("mark")
            let run = try await Self.run(
                BytePath(bytes: Array("/bin/sleep 1000 & echo $! >\(mark); ".utf8) + script.bytes),
                Self.limits { $0.time = .milliseconds(500) },
                environment: ["PATH": "/bin:/usr/bin"])
            #expect([.exited(0), .timeIsUp].contains(run.end))
            let number = try Self.number(in: mark)
            // It is reaped by the system, which may take a moment.
            try await eventually("the sleep is gone") { Self.isGone(number) }
        }
    }

    /// Whether a process has ended, reaped or not.
    private static func isGone(_ number: Int32) -> Bool {
        do throws(SystemError) {
            let file = try FileDescriptor.open(BytePath("/proc/\(number)/stat"), O_RDONLY)
            let text = String(decoding: try file.read(count: 4096, at: 0), as: UTF8.self)
            return text.contains(") Z ")
        } catch {
            return true
        }
    }

    @Test(.serialized, arguments: [false, true])
    func `a cancelled run is over and leaves no process, begun or not`(waits: Bool) async throws {
        let executor = QueueExecutor(label: "chute.test.cancelled")
        try await withTemporaryDirectory { folder in
            let mark = folder.appending("started")
            let script = BytePath("echo $$ >\(mark); exec /bin/sleep 1000")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await Self.run(script, on: executor) }
                try await eventually("the program runs") {
                    try FileStatus.size(of: mark) > 1
                }
                let number = try Self.number(in: mark)
                #expect(kill(number, 0) == 0)
                if waits {
                    // Lets go at once, though the other one goes on.
                    await withThrowingTaskGroup(of: Void.self) { second in
                        second.addTask { _ = try await Self.run("exit 0", on: executor) }
                        second.cancelAll()
                        await #expect(throws: CancellationError.self) {
                            try await second.waitForAll()
                        }
                    }
                    #expect(kill(number, 0) == 0)
                }
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.waitForAll() }
                #expect(kill(number, 0) == -1)
            }
        }
    }

    private static func number(in file: BytePath) throws -> Int32 {
        let bytes = try FileDescriptor.open(file, O_RDONLY).read(count: 20, at: 0)
        return try #require(Int32(String(decoding: bytes.dropLast(), as: UTF8.self)))
    }
}

extension FileStatus {
    /// The size of a file; 0 where there is none.
    fileprivate static func size(of path: BytePath) throws -> UInt64 {
        do throws(SystemError) { return try of(path).size } catch {
            guard error.isNotFound else { throw error }
            return 0
        }
    }
}
