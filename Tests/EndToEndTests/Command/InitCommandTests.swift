import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

/// Runs the program itself in homes of its own.
@Suite(.timeLimit(.minutes(1)))
struct InitCommandTests {
    /// An environment in which `folder` is the user's home and nothing else is set.
    private func environment(_ folder: BytePath) -> ProcessEnvironment {
        ProcessEnvironment(["HOME": folder, "PATH": "/usr/bin:/bin"])
    }

    private func chute(
        _ words: [BytePath], in folder: BytePath
    ) async throws -> RunningProgram.Finished {
        try await RunningProgram.chute(words, environment: environment(folder))
    }

    private func mode(_ path: BytePath) throws -> UInt32 {
        try FileStatus.of(path).mode & 0o7777
    }

    private func contents(_ path: BytePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, O_RDONLY)
        return try file.read(count: Int(file.status().size), at: 0)
    }

    @Test func `init makes configuration, folders and key in one home`() async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("h")
            let result = try await chute(
                ["--home", home, "init", "--name", "lap", "--layout", "{path}"], in: folder)
            #expect(result.exitCode == 0)
            #expect(result.error == "")
            #expect(try mode(home.appending("state")) == 0o700)
            #expect(try mode(home.appending("state/device.key")) == 0o600)
            #expect(try FileStatus.of(home.appending("inbox")).kind == .directory)
            #expect(try FileStatus.of(home.appending("outbox")).kind == .directory)
            let configuration = try Configuration.load(
                home.appending("chute.toml"), userFolder: nil)
            #expect(configuration?.device.name == "lap")
            #expect(configuration?.folders.first?.inbox == home.appending("inbox"))
            #expect(try Folder(at: home).entries().count == 4)
        }
    }

    @Test func `without a home the XDG folders and Pics are used`() async throws {
        try await withTemporaryDirectory { folder in
            let result = try await chute(["init"], in: folder)
            #expect(result.exitCode == 0)
            for path in [
                ".config/chute/chute.toml", ".local/share/chute/device.key", "Pics/inbox",
                "Pics/outbox",
            ] {
                #expect(try FileStatus.of(folder.appending(path)).owner == getuid())
            }
            #expect(try mode(folder.appending(".local/share/chute")) == 0o700)
        }
    }

    @Test func `a second init changes nothing`() async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("h")
            let words: [BytePath] = ["--home", home, "init", "--name", "a", "--connect", "b:1,c:2"]
            #expect(try await chute(words, in: folder).exitCode == 0)
            let before = try contents(home.appending("chute.toml"))
            let key = try contents(home.appending("state/device.key"))

            let same = try await chute(words, in: folder)
            #expect(same.exitCode == 0)
            #expect(same.output == "already set up at \(home)/chute.toml\n")
            #expect(try await chute(["--home", home, "init"], in: folder).exitCode == 0)

            let other = try await chute(["--home", home, "init", "--name", "b"], in: folder)
            #expect(other.exitCode == 73)
            #expect(other.error.contains("--name"))
            #expect(try contents(home.appending("chute.toml")) == before)
            #expect(try contents(home.appending("state/device.key")) == key)
        }
    }

    @Test func `folders and home may exist, and files in them stay`() async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("h")
            try Folder(at: folder).makeFolder("h")
            try Folder(at: home).makeFolder("inbox")
            let file = try FileDescriptor.open(
                home.appending("inbox/a"), O_WRONLY | O_CREAT, mode: 0o600)
            try file.write([1], at: 0)
            #expect(try await chute(["--home", home, "init"], in: folder).exitCode == 0)
            #expect(try contents(home.appending("inbox/a")) == [1])
        }
    }

    @Test func `a configuration put there by hand is completed and left as it is`() async throws {
        try await withTemporaryDirectory { folder in
            let text = Array("[[folder]]\ninbox = \"drop\"\n".utf8)
            let file = try FileDescriptor.open(
                folder.appending("chute.toml"), O_WRONLY | O_CREAT, mode: 0o600)
            try file.write(text, at: 0)
            #expect(try await chute(["--home", folder, "init"], in: folder).exitCode == 0)
            #expect(try contents(folder.appending("chute.toml")) == text)
            #expect(try mode(folder.appending("state/device.key")) == 0o600)
            #expect(try FileStatus.of(folder.appending("drop")).kind == .directory)
        }
    }

    @Test func `a shared key is made once and then used`() async throws {
        try await withTemporaryDirectory { folder in
            let key = folder.appending("keys/space.key")
            let words = { (home: BytePath) -> [BytePath] in
                ["--home", folder.appending(home), "init", "--shared-key", key]
            }
            let first = try await chute(words("a"), in: folder)
            #expect(first.output.contains("new space"))
            #expect(first.output.contains("copy this file to the others"))
            #expect(try mode(key) == 0o600)
            let bytes = try contents(key)
            #expect(bytes.count == 32)
            let second = try await chute(words("b"), in: folder)
            #expect(second.exitCode == 0)
            #expect(!second.output.contains("new space"))
            #expect(try contents(key) == bytes)

            #expect(truncate("\(key)", 31) == 0)
            let third = try await chute(words("c"), in: folder)
            #expect(third.exitCode == 78)
            #expect(third.error.contains("exactly 32 bytes"))
        }
    }

    @Test(arguments: [
        ["--name", ""], ["--listen", "nowhere"], ["--connect", "a:1,b"], ["--connect", "a:0"],
        ["--layout", "x"], ["--existing", "perhaps"], ["--inbox", ""],
    ])
    func `wrong values are refused before anything is made`(words: [String]) async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("h")
            let result = try await chute(
                ["--home", home, "init"] + words.map { BytePath($0) }, in: folder)
            #expect(result.exitCode == 64)
            #expect(result.error.hasPrefix("chute: "))
            #expect(try Folder(at: folder).entries().isEmpty)
        }
    }

    @Test(arguments: [
        ["--inbox", "/tmp/x", "--outbox", "/tmp/x/y"], ["--inbox", "h/outbox/in"],
        ["--inbox", "/tmp/x", "--outbox", "/tmp/x"],
    ])
    func `folders that lie in each other are a wrong configuration, here as for run`(
        words: [String]
    ) async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("h")
            let words = words.map {
                $0.hasPrefix("h/") ? folder.appending(BytePath($0)) : BytePath($0)
            }
            let result = try await chute(["--home", home, "init"] + words, in: folder)
            #expect(result.exitCode == 78, "\(result.error)")
            #expect(result.error.hasPrefix("chute: nothing is set up: "))
            #expect(try Folder(at: folder).entries().isEmpty)
        }
    }

    @Test func `a folder whose name is not UTF-8 is refused, a home of such a name works`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let odd = BytePath(bytes: folder.bytes + [0x2F, 0x61, 0xFF])
            let refused = try await chute(
                ["--home", folder.appending("h"), "init", "--inbox", odd], in: folder)
            #expect(refused.exitCode == 64)
            #expect(refused.error.contains("\\xff"))
            #expect(try await chute(["--home", odd, "init"], in: folder).exitCode == 0)
            #expect(try FileStatus.of(odd.appending("inbox")).kind == .directory)
        }
    }

    @Test func `config says what is wrong by file, line and column`() async throws {
        try await withTemporaryDirectory { folder in
            let none = try await chute(["--home", folder, "config", "check"], in: folder)
            #expect(none.exitCode == 78)
            #expect(try await chute(["--home", folder, "init"], in: folder).exitCode == 0)
            let path = folder.appending("chute.toml")
            #expect(
                try await chute(["config", "path", "--home", folder], in: folder).output
                    == "\(path)\n")
            #expect(
                try await chute(["--home", folder, "config", "check"], in: folder).exitCode == 0)
            let shown = try await chute(["--home", folder, "config", "show"], in: folder)
            #expect(shown.output.contains("min_free = \"1 GiB\"\n"))

            let file = try FileDescriptor.open(path, O_WRONLY | O_TRUNC)
            try file.write(Array("[store]\n  retentoin = \"forever\"\n".utf8), at: 0)
            let wrong = try await chute(["--home", folder, "config", "check"], in: folder)
            #expect(wrong.exitCode == 78)
            #expect(
                wrong.error == "\(path):2:3: retentoin is an unknown key of [store], did you mean "
                    + "retention?\n")
            #expect(try await chute(["--home", folder, "init"], in: folder).exitCode == 78)
        }
    }

    @Test(arguments: [
        ("/proc/z", "kernel's own"), ("/sys/z/y", "kernel's own"), ("state/x", "agent's own"),
        (".", "overlaps"), ("way/x", "lies in"), ("../h/state", "agent's own"),
        ("chute.toml", "is no folder"), ("chute.toml/x", "chute.toml is no folder"),
        ("inbox/x", "overlaps with inbox"), ("outbox", "overlaps with outbox"),
        ("keys/x", "agent's own"),
    ])
    func `a folder for moved files that could not be one was right`(
        target: String, words: String
    ) async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("h")
            #expect(try await chute(["--home", home, "init"], in: folder).exitCode == 0)
            symlink("inbox", home.appending("way").description)
            symlink("state", home.appending("keys").description)
            let lines = [
                "[[folder]]", "inbox = \"inbox\"", "outbox = \"outbox\"",
                "after_ingest = \"move\"", "  after_ingest_folder = \"\(target)\"",
            ]
            let file = try FileDescriptor.open(home.appending("chute.toml"), O_WRONLY | O_TRUNC)
            try file.write(Array(lines.joined(separator: "\n").utf8), at: 0)
            let result = try await chute(["--home", home, "config", "check"], in: folder)
            #expect(result.exitCode == 78)
            #expect(result.error.hasPrefix("\(home)/chute.toml:5:25: "), "\(result.error)")
            #expect(result.error.contains(words), "\(result.error)")
        }
    }

    @Test func `a folder that is not there yet is right, and one that cannot be made is said`()
        async throws
    {
        // By a user who may not write everywhere.
        try await withAgentFolder { folder in
            let home = try AgentHome("h", in: folder)
            try await home.setUp()
            func check(_ target: String) async throws -> RunningProgram.Finished {
                let text =
                    "[[folder]]\ninbox = \"inbox\"\nafter_ingest = \"move\"\n"
                    + "after_ingest_folder = \"\(target)\"\n"
                let file = try FileDescriptor.open(
                    home.path.appending("chute.toml"), O_WRONLY | O_TRUNC)
                try file.write(Array(text.utf8), at: 0)
                return try await home.chute("config", "check")
            }
            let right = try await check("done/with it")
            #expect(right.exitCode == 0)
            #expect(right.error == "")
            let closed = try await check("/done")
            #expect(closed.exitCode == 0)
            #expect(closed.error.contains(":4:23: after_ingest_folder /done is not there"))
        }
    }

    @Test func `an inbox around the agent's own folder would have shared its key`() async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("h")
            let words: [BytePath] = ["--home", home, "init", "--outbox", folder.appending("o")]
            let refused = try await chute(words + ["--inbox", home], in: folder)
            #expect(refused.exitCode == 78)
            #expect(refused.error.contains("agent's own"))
            #expect(try Folder(at: folder).entries().isEmpty)
        }
    }

    @Test func `a reader that leaves ends the program quietly`() async throws {
        try await withTemporaryDirectory { folder in
            let shell = try RunningProgram(
                "/bin/sh", ["-c", "{ \"$0\" --help; echo $? >&2; } | :", RunningProgram.chute],
                environment: environment(folder))
            let result = try await shell.finished()
            #expect(["0\n", "1\n"].contains(result.error))
        }
    }

    @Test func `status of what is not set up is not running`() async throws {
        try await withTemporaryDirectory { folder in
            let result = try await chute(["status"], in: folder)
            #expect(result.exitCode == 3)
            #expect(result.error.contains("chute run"))
        }
    }
}
