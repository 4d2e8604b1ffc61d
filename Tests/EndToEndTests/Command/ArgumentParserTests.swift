import ChuteSystem
import Testing

@testable import chute

struct ArgumentParserTests {
    private func parse(_ words: [String]) throws -> ArgumentParser.Outcome {
        try ArgumentParser.parse(words.map { BytePath($0) })
    }

    private func arguments(_ words: [String]) throws -> ParsedArguments {
        guard case .command(_, let arguments) = try parse(words) else {
            throw CommandError.usage("no command")
        }
        return arguments
    }

    @Test(arguments: [
        ["--home", "/h", "init", "--name", "n"], ["init", "--name", "n", "--home", "/h"],
        ["init", "--home=/h", "--name=n"], ["-q", "init", "--name=n", "--home=/h"],
    ])
    func `global options stand before or after the command`(words: [String]) throws {
        let parsed = try arguments(words)
        #expect(parsed.path == ["init"])
        #expect(parsed.bytes("--home") == "/h")
        #expect(try parsed.text("--name") == "n")
    }

    @Test func `a command with subcommands works with and without one`() throws {
        #expect(try arguments(["invite", "--uses", "3"]).path == ["invite"])
        #expect(try arguments(["invite", "list"]).path == ["invite", "list"])
        let remove = try arguments(["peers", "remove", "init"])
        #expect(remove.path == ["peers", "remove"])
        #expect(remove.operands == ["init"])
    }

    @Test func `a dash is an operand and after two dashes everything is`() throws {
        #expect(try arguments(["join", "-"]).operands == ["-"])
        #expect(try arguments(["retract", "--", "--home"]).operands == ["--home"])
    }

    @Test func `short options may stand together and count`() throws {
        let parsed = try arguments(["run", "-vvq"])
        #expect(parsed.counts == ["--verbose": 2, "--quiet": 1])
    }

    @Test func `bytes that are not UTF-8 pass as paths and not as text`() throws {
        let odd = BytePath(bytes: Array("--inbox=a".utf8) + [0xFF])
        guard case .command(_, let parsed) = try ArgumentParser.parse(["init", odd]) else {
            throw CommandError.usage("no command")
        }
        #expect(parsed.bytes("--inbox") == BytePath(bytes: [0x61, 0xFF]))
        #expect(throws: CommandError.self) { try parsed.text("--inbox") }
    }

    @Test(arguments: [
        ["--help"], ["init", "-h"], ["help", "peers", "remove"], ["service", "-h"],
    ])
    func `help is given wherever it is asked for`(words: [String]) throws {
        guard case .help(let chain) = try parse(words) else {
            Issue.record("no help for \(words)")
            return
        }
        #expect(HelpText.text(chain).contains("Examples:"))
    }

    @Test(arguments: [
        (["pair"], "`chute invite` or `chute join`"), (["devices"], "`chute peers`"),
        (["stauts"], "`chute status`"), (["conifg", "check"], "`chute config`"),
        (["config", "chek"], "`chute config check`"), (["init", "--nmae", "x"], "--name"),
        (["invite", "--expire", "x"], "--expires"), (["run", "extra"], "does not take"),
        (["frobnicate"], "--help"), (["config"], "check, path, show"), (["join"], "TICKET"),
        (["init", "--name"], "needs a value"),
        (["init", "--name", "--inbox", "x"], "needs a value"),
        (["init", "--name", "a", "--name", "b"], "twice"), (["run", "--moved=1"], "no value"),
        (["run", "-x"], "-x"), (["service", "uninstall"], "`chute service remove`"),
        (["service", "stop"], "`chute service remove`"), (["peers", "rm"], "`chute peers remove`"),
        (["peers", "ls"], "`chute peers`?"), (["invite", "RM"], "`chute invite revoke`"),
        (["config", "validate"], "`chute config check`"), (["uninstall"], "service remove"),
    ])
    func `a wrong line is a usage error that helps`(words: [String], hint: String) {
        let error = #expect(throws: CommandError.self) { try parse(words) }
        #expect(error?.code == .usage)
        #expect(error?.message.contains(hint) == true)
    }

    @Test func `every command of the table has a summary, examples and a place to go`() {
        func check(_ specification: CommandSpecification) {
            #expect(!specification.summary.isEmpty)
            #expect(!specification.examples.isEmpty)
            #expect(specification.command != nil || !specification.subcommands.isEmpty)
            specification.subcommands.forEach(check)
        }
        check(CommandTable.root)
    }

    @Test func `a synonym is said to commands that there are, is none, and means one`() {
        func find(_ words: [Substring]) -> CommandSpecification? {
            words.reduce(CommandTable.root as CommandSpecification?) { found, word in
                found?.subcommands.first { $0.name == word }
            }
        }
        for (said, meant) in CommandTable.synonyms {
            let words = said.split(separator: " ")
            #expect(find(words) == nil, "\(said)")
            #expect(find(words.dropLast()) != nil, "\(said)")
            #expect(meant.allSatisfy { find($0.split(separator: " ")) != nil }, "\(meant)")
        }
    }

    @Test(arguments: [
        ["--uses", "0"], ["--uses", "x"], ["--expires", "5"], ["--expires", "0 s"],
        ["--role", "king"],
    ])
    func `values of invite are checked`(words: [String]) throws {
        let parsed = try arguments(["invite"] + words)
        #expect(throws: CommandError.self) { try InviteCommand(parsed) }
    }
}
