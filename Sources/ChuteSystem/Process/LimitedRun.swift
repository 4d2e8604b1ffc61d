import CLinux
import Glibc
import Synchronization

/// A program run to its end within limits, and what became of it.
///
/// It gets standard input, output and error and no other descriptor, only the environment that is
/// given, can gain no rights, connect to nothing and signal nobody, and does not outlive whoever
/// started it.
package struct LimitedRun: Hashable, Sendable {
    /// Why it ended.
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case timeIsUp
        case processorTimeIsUp
        case fileIsTooLarge
        /// By another signal: it failed an assertion, or what it read made it crash.
        case killed(signal: Int32)
    }

    package let end: End
    /// What it wrote to standard output, where no descriptor was given for that.
    package let output: [UInt8]
    /// What it wrote to standard error: the first 64 KiB, up to a NUL.
    package let error: [UInt8]

    /// Runs the program at `path` on the thread of `executor`, after all that waits there.
    ///
    /// `input` and `output` are its standard streams, kept open by the caller until this returns
    /// or throws; without `output` what it writes there is captured, up to the limit of a file. When the task is cancelled, `CancellationError` comes at
    /// once where it did not start yet, else as soon as the program is killed and reaped. Nor is
    /// anything left that the program started: it cannot leave the process group that it leads. Throws `SystemError` where it cannot be started. Calls `vfork`,
    /// `setrlimit`, `prctl`, `execve`, `pidfd_open` and `wait4`.
    package static func run(
        _ path: BytePath, _ arguments: [BytePath], environment: ProcessEnvironment,
        limits: ProcessLimits, input: Int32, output: Int32? = nil, on executor: QueueExecutor
    ) async throws -> LimitedRun {
        let job = try LimitedJob(
            path: path, arguments: arguments, environment: environment, limits: limits,
            input: input, output: output)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if job.wait(continuation) { executor.async { job.run() } }
            }
        } onCancel: {
            job.cancel()
        }
    }
}

/// ## Concurrency
/// The continuation lies under a lock: whoever takes it resumes it. The program belongs to the
/// executor's thread alone, which is the only one to signal and reap it.
private final class LimitedJob: Sendable {
    private enum State {
        case fresh
        case waiting(CheckedContinuation<LimitedRun, any Error>)
        case running
        case cancelled
    }

    let path: BytePath
    let arguments: [BytePath]
    let environment: ProcessEnvironment
    let limits: ProcessLimits
    let input: Int32
    let output: Int32?
    private let cancellation: FileDescriptor
    private let state = Mutex(State.fresh)

    /// How much of standard error is kept, in bytes.
    private static let errorLimit = 64 << 10

    init(
        path: BytePath, arguments: [BytePath], environment: ProcessEnvironment,
        limits: ProcessLimits, input: Int32, output: Int32?
    ) throws(SystemError) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.limits = limits
        self.input = input
        self.output = output
        cancellation = FileDescriptor(owning: try retrying("eventfd") { chute_eventfd() })
    }

    /// `false` where it is cancelled already: then the continuation was resumed.
    func wait(_ continuation: CheckedContinuation<LimitedRun, any Error>) -> Bool {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .waiting(continuation)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        return !isCancelled
    }

    func cancel() {
        let waiting = state.withLock { state -> CheckedContinuation<LimitedRun, any Error>? in
            defer { state = .cancelled }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
        var one: UInt64 = 1
        _ = write(cancellation.raw, &one, MemoryLayout<UInt64>.size)  // only full if raised
        waiting?.resume(throwing: CancellationError())
    }

    /// Blocks until the program has ended.
    func run() {
        let continuation = state.withLock { state -> CheckedContinuation<LimitedRun, any Error>? in
            guard case .waiting(let continuation) = state else { return nil }
            state = .running
            return continuation
        }
        guard let continuation else { return }
        do {
            continuation.resume(returning: try result())
        } catch {
            continuation.resume(throwing: error)
        }
    }

    private func result() throws -> LimitedRun {
        let captured = try Self.memoryFile()
        // Of what is not kept nothing is written: the limit of a file may be large.
        let error = FileDescriptor(
            owning: try retrying("memfd_create") {
                chute_bounded_memory_file(Int64(Self.errorLimit))
            })
        let child = try start(output: output ?? captured.raw, error: error.raw)
        let isInTime: Bool
        do {
            isInTime = try awaitEnd(of: child)
        } catch {
            chute_end_group(child)
            _ = try reap(child)
            throw error
        }
        chute_end_group(child)
        let (end, processorTime) = try reap(child)
        return LimitedRun(
            end: isInTime ? Self.reason(end, processorTime, limits) : .timeIsUp,
            output: try captured.read(count: Int(clamping: captured.status().size), at: 0),
            error: Array(try error.read(count: Self.errorLimit, at: 0).prefix { $0 != 0 }))
    }

    private static func memoryFile() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try retrying("memfd_create") { chute_memory_file() })
    }

    private func start(output: Int32, error: Int32) throws(SystemError) -> pid_t {
        let variables = environment.variables.map { name, value in
            BytePath(bytes: Array("\(name)=".utf8) + value.bytes)
        }
        return try retrying("vfork", path) {
            withCStrings([path] + arguments) { argumentList in
                withCStrings(variables) { variableList in
                    path.withCString { path in
                        var raw = limits.raw
                        return chute_start_limited(
                            path, argumentList, variableList, input, output, error, &raw)
                    }
                }
            }
        }
    }

    /// `false` where its time is up. Throws `CancellationError`.
    private func awaitEnd(of child: pid_t) throws -> Bool {
        let process = FileDescriptor(
            owning: try retrying("pidfd_open", path) { chute_pidfd_open(child) })
        let end = BootMoment.now.advanced(by: limits.time)
        while true {
            let rest = max(0, end.nanoseconds - BootMoment.sinceBoot)
            // A millisecond later than due, not a thousand times earlier.
            let milliseconds = Int32(clamping: rest / 1_000_000 + (rest > 0 ? 1 : 0))
            let outcome = chute_await_end(process.raw, cancellation.raw, milliseconds)
            switch outcome {
            case 1: return true
            case 2: throw CancellationError()
            case 0: if rest == 0 { return false }
            default: if errno != EINTR { throw SystemError.current("poll", path) }
            }
        }
    }

    private func reap(
        _ child: pid_t
    ) throws(SystemError) -> (ChildProcess.End, processorTime: Duration) {
        var status: Int32 = 0
        var microseconds: Int64 = 0
        _ = try retrying("wait4", path) { chute_reap(child, &status, &microseconds) }
        return (.init(waitStatus: status), .microseconds(microseconds))
    }

    private static func reason(
        _ end: ChildProcess.End, _ processorTime: Duration, _ limits: ProcessLimits
    ) -> LimitedRun.End {
        switch end {
        case .exited(let code): .exited(code)
        case .killed(SIGXCPU): .processorTimeIsUp
        case .killed(SIGXFSZ): .fileIsTooLarge
        // A second after SIGXCPU, to a program that does not end by that.
        case .killed(SIGKILL) where processorTime >= .seconds(limits.processorSeconds):
            .processorTimeIsUp
        case .killed(let signal): .killed(signal: signal)
        }
    }
}
