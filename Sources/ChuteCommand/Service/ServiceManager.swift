import ChuteSystem
import Glibc

/// The user's systemd, by `systemctl --user`.
struct ServiceManager {
    static let unit = "chute.service"

    private let environment: ProcessEnvironment

    /// Finds the user's service manager; throws 69 where there is none, with what to do.
    init(environment: ProcessEnvironment) throws {
        guard access("/run/systemd/system", F_OK) == 0 else {
            throw CommandError(
                .unavailable,
                "systemd does not run here: start `chute run` by what starts programs on this host")
        }
        var environment = environment
        if environment["XDG_RUNTIME_DIR"] == nil {
            // Unset after `su`; the folder is there while the user's manager runs.
            environment.variables["XDG_RUNTIME_DIR"] = BytePath("/run/user/\(getuid())")
        }
        self.environment = environment
    }

    /// Where the user's units are.
    static func unitFile(_ environment: ProcessEnvironment) throws -> BytePath {
        let configured = environment["XDG_CONFIG_HOME"].flatMap { $0.isAbsolute ? $0 : nil }
        guard let folder = configured ?? environment.homeFolder?.appending(".config") else {
            throw CommandError(.failed, "no home folder is known for this user: set HOME")
        }
        return folder.appending("systemd/user").appending(unit)
    }

    /// Runs `systemctl --user`; throws 69 with its own words where it fails.
    func control(_ words: String...) throws {
        let result = try output(words)
        guard result.end != .exited(0) else { return }
        let command = "systemctl --user " + words.joined(separator: " ")
        let reason = result.text.split(separator: "\n").first.map(String.init) ?? "no reason given"
        let hint =
            reason.contains("bus")
            ? "log in as this user directly (not by su), or run `loginctl enable-linger` first"
            : "see `journalctl --user -u \(Self.unit)`"
        throw CommandError(.unavailable, "`\(command)` failed: \(reason): \(hint)")
    }

    /// One word, such as `active` or `inactive`.
    func activity() throws -> String {
        let word = try output(["is-active", Self.unit]).text.prefix { $0 != "\n" }
        return word.isEmpty ? "unknown" : String(word)
    }

    private func output(_ words: [String]) throws -> (end: ChildProcess.End, text: String) {
        do {
            let result = try CapturedRun(
                "systemctl", ["--user"] + words.map { BytePath($0) }, environment: environment)
            return (result.end, String(decoding: result.error + result.output, as: UTF8.self))
        } catch {
            throw CommandError(.unavailable, "systemctl cannot be run: \(error.reason)")
        }
    }
}
