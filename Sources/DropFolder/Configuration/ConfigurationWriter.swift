package import ChuteSystem

/// Writes configurations: the annotated default with values put in, and the effective one.
package struct ConfigurationWriter: Sendable {
    /// What to set in the annotated default; `nil` leaves what stands there.
    package struct Values: Sendable {
        package var name: String?
        package var sharedKey: BytePath?
        package var inbox: BytePath?
        package var outbox: BytePath?
        package var layout: String?
        package var listen: String?
        package var connect: [String]?

        package init() {}
    }

    /// A path that a TOML text cannot hold.
    package struct NotText: Error, CustomStringConvertible {
        package let path: BytePath

        package var description: String {
            "the name \(path) is not UTF-8 and cannot stand in the configuration: "
                + "use a folder with another name"
        }
    }

    /// The annotated default with `values`, for a new file of `home`.
    package static func text(
        _ values: Values, home: Home, template: [UInt8] = annotatedConfiguration
    ) throws(NotText) -> [UInt8] {
        var settings: [String: String] = [
            "folder.inbox": quoted(home.standardInbox),
            "folder.outbox": quoted(home.standardOutbox),
        ]
        if let name = values.name { settings["device.name"] = quoted(name) }
        if let key = values.sharedKey { settings["device.shared_key"] = try quoted(key) }
        if let inbox = values.inbox { settings["folder.inbox"] = try quoted(inbox) }
        if let outbox = values.outbox { settings["folder.outbox"] = try quoted(outbox) }
        if let layout = values.layout { settings["folder.layout"] = quoted(layout) }
        if let listen = values.listen { settings["transports.tcp.listen"] = quoted(listen) }
        if let connect = values.connect {
            settings["transports.tcp.connect"] = list(connect)
        }
        var section = ""
        let lines = String(decoding: template, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { line -> Substring in
                if line.hasPrefix("[") {
                    section = line.filter { $0 != "[" && $0 != "]" }
                    return line
                }
                guard let key = key(of: line), let value = settings["\(section).\(key)"] else {
                    return line
                }
                return "\(key) = \(value)"[...]
            }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// The key that a line of the template sets or shows: `key = ...` or `# key = ...`.
    static func key(of line: Substring) -> String? {
        let content = line.hasPrefix("# ") ? line.dropFirst(2) : line
        let key = content.prefix { $0.isASCII && ($0.isLowercase || $0 == "_") }
        return !key.isEmpty && content[key.endIndex...].hasPrefix(" = ") ? String(key) : nil
    }

    /// A TOML basic string of any text.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func quoted(_ path: BytePath) throws(NotText) -> String {
        guard let text = path.string else { throw NotText(path: path) }
        return quoted(text)
    }

    static func list(_ texts: [String]) -> String {
        "[" + texts.map(quoted).joined(separator: ", ") + "]"
    }

    /// Everything that is in effect, as TOML without comments.
    package static func effective(_ configuration: Configuration) -> String {
        var lines = ["[device]", "name = " + quoted(configuration.deviceName)]
        if let key = configuration.device.sharedKey { lines.append("shared_key = " + shown(key)) }
        if configuration.device.isPairedOnPurpose { lines.append("shared_key = \"\"") }
        for folder in configuration.folders { lines += [""] + effective(folder) }
        lines += network(configuration)
        lines += ["", "[store]"]
        switch configuration.store.retention {
        case .untilDelivered: lines.append("retention = \"delivered\"")
        case .forever: lines.append("retention = \"forever\"")
        case .atMost(let span): lines.append("retention = " + quoted(TimeSpan.text(span)))
        }
        lines.append("relay_cache = " + size(configuration.store.relayCache))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func effective(_ folder: FolderSettings) -> [String] {
        var lines = ["[[folder]]", "collection = " + quoted(folder.collection)]
        if let inbox = folder.inbox { lines.append("inbox = " + shown(inbox)) }
        if let outbox = folder.outbox { lines.append("outbox = " + shown(outbox)) }
        lines.append("accept = " + list(folder.accept.map(\.description)))
        lines.append("ignore = " + list(folder.ignore))
        lines.append("max_size = " + size(folder.maxSize))
        lines.append("min_free = " + size(folder.minFree))
        lines.append("max_total = " + size(folder.maxTotal))
        switch folder.afterIngest {
        case .keep: lines.append("after_ingest = \"keep\"")
        case .delete: lines.append("after_ingest = \"delete\"")
        case .move(let target):
            lines += ["after_ingest = \"move\"", "after_ingest_folder = " + shown(target)]
        }
        lines.append("layout = " + quoted(folder.layout.description))
        lines.append("on_retract = " + quoted(folder.onRetract.rawValue))
        lines.append("file_mode = " + mode(folder.fileMode))
        lines.append("folder_mode = " + mode(folder.folderMode))
        return lines
    }

    /// A path for people: what is not UTF-8 in it is escaped.
    static func shown(_ path: BytePath) -> String {
        quoted(path.string ?? path.description)
    }

    static func size(_ count: UInt64?) -> String {
        guard let count, count > 0 else { return "0" }
        return quoted(ByteCount.exactText(count))
    }

    private static func mode(_ mode: UInt32?) -> String {
        quoted(mode.map { "0" + String($0, radix: 8) } ?? "")
    }
}
