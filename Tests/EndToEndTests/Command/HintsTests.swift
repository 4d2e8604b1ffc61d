import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import chute

/// Suggested commands of an agent whose home is not the user's own: typed as they stand without
/// the home, they were about another agent.
@Suite(.timeLimit(.minutes(1)))
struct HintsTests {
    @Test func `a suggested command carries the home, others stay as they are`() {
        let hints = Hints(home: "/srv/pics")
        #expect(
            hints.complete("run `chute init` or `chute run` first, chute invite there")
                == "run `chute --home /srv/pics init` or `chute --home /srv/pics run` first, "
                + "chute invite there")
        let plain = "waits for another `chute` here"
        #expect(hints.complete(plain) == plain)
        #expect(Hints(home: nil).complete("run `chute init`") == "run `chute init`")
    }

    @Test(arguments: [
        BytePath("/plain/a-b_c.d"), "/two words", "/it's", "/a$HOME`id`\\n", "/é ü",
        BytePath(bytes: [0x2F, 0x61, 0xFF, 0x27, 0x0A, 0x62]),
    ])
    func `the home is one word of a shell, whatever is in it`(home: BytePath) throws {
        let run = try CapturedRun("/bin/bash", ["-c", BytePath("printf %s \(Hints.word(home))")])
        #expect(run.output == home.bytes)
        #expect(run.end == .exited(0))
    }

    @Test(arguments: [
        (["config", "check"], "init"), (["status"], "run"), (["peers", "rm", "x"], "peers remove"),
        (["frobnicate"], "--help"),
    ])
    func `every way to say something goes through it`(words: [String], hint: String) async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("a home")
            let environment = ProcessEnvironment(["HOME": folder, "PATH": "/usr/bin:/bin"])
            let expected = "`chute --home '\(home)' \(hint)"
            let words = words.map { BytePath($0) }
            let option = try await RunningProgram.chute(
                ["--home", home] + words, environment: environment)
            #expect(option.error.contains(expected), "\(option.error)")
            var variables = environment
            variables.variables["CHUTE_HOME"] = home
            let variable = try await RunningProgram.chute(words, environment: variables)
            #expect(variable.error == option.error)
            let neither = try await RunningProgram.chute(words, environment: environment)
            #expect(neither.error.contains("`chute \(hint)"), "\(neither.error)")
        }
    }

    @Test func `what was asked for carries it too`() async throws {
        try await withTemporaryDirectory { folder in
            let environment = ProcessEnvironment(["HOME": folder, "PATH": "/usr/bin:/bin"])
            for words in [["init"], ["peers"], ["status"]] {
                let result = try await RunningProgram.chute(
                    ["--home", folder] + words.map { BytePath($0) }, environment: environment)
                guard words != ["init"] else { continue }
                #expect(
                    result.output.contains("`chute --home \(folder) "), "\(result.output)")
            }
        }
    }
}
