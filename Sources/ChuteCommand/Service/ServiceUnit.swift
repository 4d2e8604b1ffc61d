import ChuteSystem
import DropFolder

/// The text of the systemd user unit.
struct ServiceUnit {
    let executable: BytePath
    let home: Home
    let configuration: Configuration
    let environment: ProcessEnvironment

    /// The first lines say whose unit it is, so that another home's is not replaced.
    func text() throws -> String {
        var lines = [
            "# Made by `chute service install`: run it again when folders are added.",
            try marker(), "[Unit]",
            "Description=Chute: what is dropped in a folder comes out in the peers' folders",
            "StartLimitIntervalSec=0", "",
            "[Service]",
            "Type=notify",
            "ExecStart=\(try command())",
        ]
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME"] where home.folder == nil {
            guard let value = environment[name], value.isAbsolute else { continue }
            lines.append("Environment=\(try quoted(BytePath("\(name)=").joined(value)))")
        }
        lines += [
            "Restart=on-failure",
            "RestartSec=5",
            "# Neither a wrong command line nor a wrong configuration mends itself.",
            "RestartPreventExitStatus=64 78",
            "WatchdogSec=60",
            "TimeoutStopSec=15",
            "RuntimeDirectory=chute",
            "RuntimeDirectoryPreserve=yes", "",
            "# Writes to its own state, inboxes and outboxes, and nowhere else.",
            "ProtectSystem=strict",
        ]
        lines += try writablePaths.map { "ReadWritePaths=\(try quoted(BytePath("-").joined($0)))" }
        // A private /tmp would hide folders of the user that lie there.
        if !writablePaths.contains(where: Self.isTemporary) { lines.append("PrivateTmp=yes") }
        lines += [
            "NoNewPrivileges=yes",
            "LockPersonality=yes",
            "MemoryDenyWriteExecute=yes",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            "RestrictNamespaces=yes",
            "RestrictRealtime=yes",
            "SystemCallArchitectures=native",
            "SystemCallFilter=@system-service",
            "SystemCallErrorNumber=EPERM", "",
            "[Install]",
            "WantedBy=default.target",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The line that tells the units of two homes apart.
    func marker() throws -> String {
        "# Configuration: \(home.configurationFile)"
    }

    private func command() throws -> String {
        var words = [try quoted(executable, isCommand: true)]
        if let folder = home.folder {
            words += ["--home", try quoted(folder, isCommand: true)]
        }
        return (words + ["run"]).joined(separator: " ")
    }

    /// State, inboxes, outboxes and where dropped files are moved to; each once.
    private var writablePaths: [BytePath] {
        var paths = [home.stateFolder]
        for folder in configuration.folders {
            paths += [folder.inbox, folder.outbox].compactMap { $0 }
            if case .move(let target) = folder.afterIngest { paths.append(target) }
        }
        var seen: Set<BytePath> = []
        return paths.filter { seen.insert($0).inserted }
    }

    private static func isTemporary(_ path: BytePath) -> Bool {
        path.relative(to: "/tmp") != nil || path.relative(to: "/var/tmp") != nil
    }

    /// A word for a unit file: in quotes, `%` doubled, and `$` too in a command.
    private func quoted(_ path: BytePath, isCommand: Bool = false) throws -> String {
        guard let text = path.string, !text.unicodeScalars.contains(where: Self.isControl) else {
            throw CommandError(
                .failed,
                "systemd cannot take the name \(path): use a folder with a plain name, "
                    + "or start `chute run` otherwise")
        }
        var quoted = "\""
        for character in text.unicodeScalars {
            switch character {
            case "%": quoted += "%%"
            case "$" where isCommand: quoted += "$$"
            case "\"", "\\": quoted += "\\\(character)"
            default: quoted.unicodeScalars.append(character)
            }
        }
        return quoted + "\""
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || scalar.value == 0x7F
    }
}

extension BytePath {
    /// These bytes followed by those of `other`, with nothing between.
    fileprivate func joined(_ other: BytePath) -> BytePath { BytePath(bytes: bytes + other.bytes) }
}
