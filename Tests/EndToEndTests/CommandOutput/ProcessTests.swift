import ChuteSystem
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ProcessTests {
    @Test func `a program's output and end are captured`() throws {
        let run = try CapturedRun("sh", ["-c", "echo out; echo err >&2; exit 7"])
        #expect(run.end == .exited(7))
        #expect(run.output == Array("out\n".utf8))
        #expect(run.error == Array("err\n".utf8))
    }

    @Test func `a program that is not there is an error`() {
        #expect(throws: SystemError.self) { try CapturedRun("/nonexistent/program", []) }
    }

    @Test func `a signal ends a running program`() async throws {
        let program = try RunningProgram("/bin/sleep", ["1000"])
        program.send(signal: SIGTERM)
        #expect(try await program.finished().end == .killed(signal: SIGTERM))
        program.send(signal: SIGTERM)
    }

    @Test func `the environment is what was given`() throws {
        let run = try CapturedRun(
            "/usr/bin/env", [], environment: ProcessEnvironment(["A": BytePath(bytes: [0xFF])]))
        #expect(run.output == [0x41, 0x3D, 0xFF, 0x0A])
    }

    @Test func `readiness is told to the socket that the manager names`() throws {
        // Abstract address, so that nothing stays behind.
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array("\0chute-notify-\(getpid())".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let listener = FileDescriptor(
            owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.raw, $0, length)
            }
        }
        #expect(bound == 0)
        setenv("NOTIFY_SOCKET", "@chute-notify-\(getpid())", 1)
        defer { unsetenv("NOTIFY_SOCKET") }
        ServiceNotifier().ready()
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(listener.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1")
    }

    @Test func `a code has its finder patterns and a quiet zone`() throws {
        let code = try #require(QRCode("chute1:abc"))
        #expect(code.modules.count == code.width * code.width)
        #expect(Array(code.modules.prefix(8)) == [true, true, true, true, true, true, true, false])
        let lines = code.halfBlocks(quietZone: 2)
        #expect(lines[0] == String(repeating: "█", count: code.width + 4))
        #expect(lines.allSatisfy { $0.count == code.width + 4 })
        #expect(QRCode(String(repeating: "x", count: 5000)) == nil)
    }
}
