package import ChuteSystem
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// A program that a test started, with what it writes captured.
///
/// ## Concurrency
/// One thread of its own waits for the end. The process id is used only under `hasEnded`'s lock,
/// since the system gives it to others once the program is reaped.
package final class RunningProgram: Sendable {
    private let child: ChildProcess
    private let output: FileDescriptor
    private let error: FileDescriptor
    private let hasEnded = Mutex(false)
    private let end: AsyncStream<ChildProcess.End>

    /// How a program ended and what it wrote.
    package struct Finished: Sendable {
        package let end: ChildProcess.End
        package let output: String
        package let error: String

        /// `nil` where a signal ended it.
        package var exitCode: Int32? {
            if case .exited(let code) = end { code } else { nil }
        }
    }

    /// The built `chute`, beside the test bundle; `CHUTE_EXECUTABLE` names another one.
    package static var chute: BytePath {
        if let given = ProcessEnvironment.current["CHUTE_EXECUTABLE"] { return given }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return "chute" }
            let count = max(0, readlink("/proc/self/exe", start, buffer.count))
            let bundle = BytePath(bytes: UnsafeRawBufferPointer(start: start, count: count))
            return bundle.parent.appending("chute")
        }
    }

    /// Starts `executable` with empty standard input.
    package init(
        _ executable: BytePath, _ arguments: [BytePath],
        environment: ProcessEnvironment = .current
    ) throws {
        output = try Self.unnamedFile()
        error = try Self.unnamedFile()
        let child = try ChildProcess(
            starting: executable, arguments, environment: environment, output: output.raw,
            error: error.raw)
        self.child = child
        let (end, continuation) = AsyncStream.makeStream(of: ChildProcess.End.self)
        self.end = end
        DispatchQueue(label: "chute.test.wait").async { @Sendable [self] in
            var information = siginfo_t()
            // Waits without reaping, so that the id stays this program's until the lock is held.
            while waitid(P_PID, id_t(child.identifier), &information, WEXITED | WNOWAIT) != 0,
                errno == EINTR
            {}
            hasEnded.withLock { hasEnded in
                hasEnded = true
                if let end = try? child.wait() { continuation.yield(end) }
            }
            continuation.finish()
        }
    }

    /// Runs `chute` with these arguments to its end.
    package static func chute(
        _ arguments: [BytePath], environment: ProcessEnvironment = .current
    ) async throws -> Finished {
        try await RunningProgram(chute, arguments, environment: environment).finished()
    }

    /// Waits for the end. Call it once.
    package func finished() async throws -> Finished {
        for await end in end {
            return Finished(end: end, output: try text(of: output), error: try text(of: error))
        }
        throw SystemError(code: ECHILD, call: "waitpid")
    }

    /// What `/proc/<id>/<file>` says while the program runs; `nil` once it has ended.
    package func processFile(_ file: BytePath) throws -> String? {
        try hasEnded.withLock { hasEnded in
            guard !hasEnded else { return nil }
            let path = BytePath("/proc/\(child.identifier)").appending(file)
            let opened = try FileDescriptor.open(path, FileDescriptor.readOnly)
            return String(decoding: try opened.read(count: 64 << 10, at: 0), as: UTF8.self)
        }
    }

    /// What `/proc/<id>/task/<thread>/<file>` says for each thread; nothing once the program has
    /// ended.
    package func threadFiles(_ file: BytePath) throws -> [String] {
        try hasEnded.withLock { hasEnded in
            guard !hasEnded else { return [] }
            let threads = BytePath("/proc/\(child.identifier)/task")
            return try Folder(at: threads).entries().compactMap { entry in
                do throws(SystemError) {
                    let path = threads.appending(entry.name).appending(file)
                    let opened = try FileDescriptor.open(path, FileDescriptor.readOnly)
                    return String(decoding: try opened.read(count: 64 << 10, at: 0), as: UTF8.self)
                } catch {
                    // Ended since it was listed.
                    guard error.isNotFound || error.code == ESRCH else { throw error }
                    return nil
                }
            }
        }
    }

    /// How many descriptors the program has open; 0 once it has ended.
    package func descriptorCount() throws -> Int {
        try hasEnded.withLock { hasEnded in
            guard !hasEnded else { return 0 }
            return try Folder(at: BytePath("/proc/\(child.identifier)/fd")).entries().count
        }
    }

    /// Sends a signal; nothing where the program has ended.
    package func send(signal: Int32) {
        hasEnded.withLock { hasEnded in
            if !hasEnded { child.send(signal: signal) }
        }
    }

    /// What it wrote to standard output so far.
    package func outputSoFar() throws -> String { try text(of: output) }

    /// What it wrote to standard error so far.
    package func errorSoFar() throws -> String { try text(of: error) }

    private static func unnamedFile() throws -> FileDescriptor {
        var template = Array("/tmp/chute-output-XXXXXX".utf8CString)
        let raw = mkstemp(&template)
        guard raw >= 0 else { throw SystemError.current("mkstemp") }
        _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return FileDescriptor(owning: raw)
    }

    private func text(of file: borrowing FileDescriptor) throws -> String {
        let bytes = try file.read(count: Int(clamping: file.status().size), at: 0)
        return String(decoding: bytes, as: UTF8.self)
    }
}
