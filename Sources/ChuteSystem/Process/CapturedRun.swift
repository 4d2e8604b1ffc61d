import CLinux
import Glibc

/// A program run to its end, and what it wrote.
package struct CapturedRun: Hashable, Sendable {
    package let end: ChildProcess.End
    package let output: [UInt8]
    package let error: [UInt8]

    /// Runs the program with empty standard input and waits. Blocks.
    ///
    /// What it writes goes to files in memory, so that no amount of it holds the program up.
    package init(
        _ program: BytePath, _ arguments: [BytePath], environment: ProcessEnvironment = .current
    ) throws(SystemError) {
        let output = try Self.memoryFile()
        let error = try Self.memoryFile()
        let child = try ChildProcess(
            starting: program, arguments, environment: environment, output: output.raw,
            error: error.raw)
        end = try child.wait()
        self.output = try Self.contents(output)
        self.error = try Self.contents(error)
    }

    private static func memoryFile() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try retrying("memfd_create") { chute_memory_file() })
    }

    private static func contents(_ file: borrowing FileDescriptor) throws(SystemError) -> [UInt8] {
        try file.read(count: Int(clamping: file.status().size), at: 0)
    }
}
