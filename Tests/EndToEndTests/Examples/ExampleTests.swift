import ChuteSystem
import Glibc
import TestSupport
import Testing

/// The examples, each as two programs that share.
@Suite(.timeLimit(.minutes(2)))
struct ExampleTests {
    /// An example that runs, with what is typed into it.
    private final class Example: Sendable {
        let program: RunningProgram
        private let typing: FileDescriptor

        init(_ name: String, in folder: BytePath, _ arguments: [BytePath]) throws {
            let pipe = folder.appending(BytePath("typing-\(arguments[0].lastComponent)"))
            guard pipe.withCString({ mkfifo($0, 0o600) }) == 0 else {
                throw SystemError.current("mkfifo", pipe)
            }
            // Open for both, so that neither end waits for the other.
            typing = try FileDescriptor.open(pipe, FileDescriptor.readWrite)
            let executable = RunningProgram.chute.parent.appending(BytePath(name))
            var environment = ProcessEnvironment.current
            environment.variables["TYPING"] = pipe
            program = try RunningProgram(
                "/bin/sh", ["-c", "exec \"$0\" \"$@\" <\"$TYPING\"", executable] + arguments,
                environment: environment)
        }

        func type(_ line: String) throws {
            let bytes = Array("\(line)\n".utf8)
            guard Glibc.write(typing.raw, bytes, bytes.count) == bytes.count else {
                throw SystemError.current("write")
            }
        }

        func awaits(_ text: String) async throws {
            try await eventually("it prints \(text)") {
                try program.outputSoFar() + program.errorSoFar()
            } holds: {
                try program.outputSoFar().contains(text)
            }
        }

        /// The address that it listens at.
        func address() async throws -> BytePath {
            try await awaits("listening at ")
            let line = try program.outputSoFar().split(separator: "\n")
                .first { $0.hasPrefix("listening at ") }
            return BytePath(String(try #require(line).dropFirst("listening at ".count)))
        }
    }

    /// Two of an example: what they print is in the order in which it happens, their end in time.
    private func withTwo(
        _ name: String, _ options: [[BytePath]], ends: String,
        _ body: (_ one: Example, _ two: Example, BytePath) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let one = try Example(
                name, in: folder,
                [folder.appending("one")] + options[0] + ["--listen", "127.0.0.1:0"])
            var two: Example?
            do {
                let second = try Example(
                    name, in: folder,
                    [folder.appending("two")] + options[1] + [
                        "--connect", try await one.address(),
                    ])
                two = second
                try await body(one, second, folder)
                for example in [one, second] {
                    try example.type(ends)
                    let finished = try await example.program.finished()
                    #expect(finished.exitCode == 0, "\(finished.error)")
                }
            } catch {
                one.program.send(signal: SIGKILL)
                two?.program.send(signal: SIGKILL)
                throw error
            }
        }
    }

    private func bytes(_ path: BytePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
        return try file.read(count: Int(file.status().size), at: 0)
    }

    private func write(_ bytes: [UInt8], to path: BytePath) throws {
        try FileDescriptor.open(path, FileDescriptor.readWriteCreate).write(bytes, at: 0)
    }

    @Test func `a picture that one album adds comes out of the other, byte for byte`()
        async throws
    {
        try await withTwo("PicsCLI", [[], []], ends: "quit") { one, two, folder in
            var random = SeededGenerator(seed: 1)
            let picture = random.bytes(3 << 20)
            try write(picture, to: folder.appending("lake.jpg"))
            try one.type("add \(folder)/lake.jpg")
            try await one.awaits("added lake.jpg, \(picture.count) bytes")
            try await two.awaits("received lake.jpg, \(picture.count) bytes")
            #expect(try bytes(folder.appending("two/received/lake.jpg")) == picture)
            #expect(try bytes(folder.appending("lake.jpg")) == picture)

            // A file that is not there costs nothing else.
            try two.type("add \(folder)/gone.jpg")
            try await two.awaits("gone.jpg was not added")
            try write([1, 2, 3], to: folder.appending("small.png"))
            try two.type("add \(folder)/small.png")
            try await one.awaits("received small.png, 3 bytes")
            try one.type("list")
            try await one.awaits("small.png  image/png")
        }
    }

    @Test(.enabled(if: Corpus.isPresent))
    func `a chat shows who is there, a thumbnail first and then the untouched picture`()
        async throws
    {
        let names: [[BytePath]] = [["--name", "Ada"], ["--name", "Ben"]]
        try await withTwo("ChatCLI", names, ends: "/quit") { one, two, folder in
            try await one.awaits("Ben is here")
            try await two.awaits("Ada is here")
            try one.type("hello there")
            try await two.awaits("Ada: hello there")

            try write([7, 7, 7], to: folder.appending("face.jpg"))
            try one.type("/avatar \(folder)/face.jpg")
            try await two.awaits("/avatar-")

            let row = try #require(try Corpus.rows().first { $0.path == "jpeg-gps/DSCN0010.jpg" })
            let picture = Corpus.folder.appending(row.path)
            try two.type("/picture \(picture)")
            try await one.awaits("Ben: sent a picture")
            try await one.awaits("/thumbnail-")
            try await one.awaits("/picture-")
            let received = folder.appending("one/received")
            let names = try Folder(at: received).entries().map(\.name)
            let large = try #require(names.first { $0.description.hasPrefix("picture-") })
            #expect(try bytes(received.appending(large)) == bytes(picture))
        }
    }
}
