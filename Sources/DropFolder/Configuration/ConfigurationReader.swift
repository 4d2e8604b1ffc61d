import ChuteKit
package import ChuteSystem

/// Reads `chute.toml` and collects all that is wrong with it.
package struct ConfigurationReader {
    /// What relative paths start at.
    let folder: BytePath
    /// What `~` stands for; `nil` where nobody knows.
    let userFolder: BytePath?
    /// Where the agent keeps database and key, which no folder may share; `nil` where that is not
    /// known.
    let stateFolder: BytePath?
    var problems: [ConfigurationProblem] = []
    var notices: [ConfigurationProblem] = []
    /// Every inbox and outbox with its place, to find those that overlap.
    var roots: [(path: BytePath, what: String, position: TOMLPosition)] = []
    /// Every folder that dropped files are moved to. Several inboxes may share one.
    var moveTargets: [(path: BytePath, position: TOMLPosition)] = []
    /// Where each peer with rules of its own is named.
    var peers: [DeviceID: TOMLPosition] = [:]
    /// The shared key and its place.
    var sharedKey: (path: BytePath, position: TOMLPosition)?
    /// The collection of every `[[folder]]`, named or by default.
    var collections: [(name: String, position: TOMLPosition)] = []

    /// Reads a configuration's text; throws all problems at once, in the order of the file.
    package static func read(
        _ text: [UInt8], file: BytePath, userFolder: BytePath?, stateFolder: BytePath? = nil
    ) throws(ConfigurationError) -> Configuration {
        try reading(text, file, userFolder, stateFolder).configuration
    }

    /// The configuration, and the reader that knows where each folder stands in the text.
    static func reading(
        _ text: [UInt8], _ file: BytePath, _ userFolder: BytePath?, _ stateFolder: BytePath?
    ) throws(ConfigurationError) -> (configuration: Configuration, reader: ConfigurationReader) {
        let document: TOMLDocument
        do {
            document = try TOMLDocument(parsing: text)
        } catch {
            let problem = ConfigurationProblem(position: error.position, message: error.message)
            throw ConfigurationError(file: file, problems: [problem])
        }
        // Some editors empty a file before they write it, and so does a full disk.
        guard !document.entries.isEmpty else {
            let problem = ConfigurationProblem(
                position: .start,
                message: "\(file.lastComponent) is empty, expected what `chute init` writes where "
                    + "there is no such file")
            throw ConfigurationError(file: file, problems: [problem])
        }
        var reader = ConfigurationReader(
            folder: file.parent, userFolder: userFolder, stateFolder: stateFolder)
        let configuration = reader.configuration(document.entries)
        guard reader.problems.isEmpty else {
            let problems = reader.problems.sorted { $0.position < $1.position }
            throw ConfigurationError(file: file, problems: problems)
        }
        return (configuration, reader)
    }

    private mutating func configuration(_ entries: [TOMLEntry]) -> Configuration {
        var configuration = Configuration()
        for entry in entries {
            switch entry.key {
            case "device": device(entry, into: &configuration)
            case "folder":
                for table in tables(entry) {
                    if let folder = folderSettings(table) { configuration.folders.append(folder) }
                }
            case "transports": transports(entry, into: &configuration)
            case "store": store(entry, into: &configuration)
            case "network": network(entry, into: &configuration.network)
            case "peer": configuration.peers = tables(entry).compactMap { peer($0) }
            default:
                unknown(
                    entry, "section",
                    among: ["device", "folder", "transports", "store", "network", "peer"])
            }
        }
        checkRoots()
        checkCollections()
        configuration.notices = notices.sorted { $0.position < $1.position }
        return configuration
    }

    private mutating func device(_ entry: TOMLEntry, into configuration: inout Configuration) {
        for entry in table(entry) {
            switch entry.key {
            case "name":
                guard let name = string(entry) else { continue }
                if Self.isDeviceName(name) {
                    configuration.device.name = name
                } else {
                    report(entry, "\"\(name)\" is no device name, \(Self.deviceNameRule)")
                }
            case "shared_key": sharedKey(entry, into: &configuration.device)
            default: unknown(entry, "key of [device]", among: ["name", "shared_key"])
            }
        }
    }

    private mutating func sharedKey(
        _ entry: TOMLEntry, into device: inout Configuration.Device
    ) {
        if case .string("") = entry.value.content {
            device.isPairedOnPurpose = true
        } else if let path = path(entry) {
            device.sharedKey = path
            sharedKey = (path, entry.position)
        }
    }

    private mutating func store(_ entry: TOMLEntry, into configuration: inout Configuration) {
        for entry in table(entry) {
            if entry.key == "relay_cache" {
                if let size = size(entry) { configuration.store.relayCache = size }
                continue
            }
            guard entry.key == "retention" else {
                unknown(entry, "key of [store]", among: ["retention", "relay_cache"])
                continue
            }
            switch string(entry) {
            case nil: break
            case "delivered": configuration.store.retention = .untilDelivered
            case "forever": configuration.store.retention = .forever
            case .some(let text):
                if let span = TimeSpan.parse(text) {
                    configuration.store.retention = .atMost(span)
                } else {
                    report(
                        entry,
                        "\"\(text)\" is no retention, expected \"delivered\", \"forever\" or a "
                            + "duration such as \"30 days\"")
                }
            }
        }
    }

    private mutating func checkRoots() {
        for (index, root) in roots.enumerated() {
            for earlier in roots[..<index]
            where root.path.relative(to: earlier.path) != nil
                || earlier.path.relative(to: root.path) != nil
            {
                problems.append(
                    ConfigurationProblem(
                        position: root.position,
                        message: "\(root.what) \(root.path) overlaps with \(earlier.what) "
                            + "\(earlier.path), expected folders of which none lies in another",
                        isOverlap: true))
                break
            }
        }
        checkState()
        for target in moveTargets {
            let overlapping = roots.first { root in
                target.path.relative(to: root.path) != nil
                    || root.path.relative(to: target.path) != nil
            }
            guard let overlapping else { continue }
            report(
                target.position,
                "after_ingest_folder \(target.path) overlaps with \(overlapping.what) "
                    + "\(overlapping.path), expected folders of which none lies in another")
        }
    }

    /// The device's key must not be shared, nor files be hidden among what is the agent's own.
    private mutating func checkState() {
        guard let stateFolder else { return }
        let targets = moveTargets.map { ($0.path, "after_ingest_folder", $0.position) }
        for (path, what, position) in roots + targets
        where path.relative(to: stateFolder) != nil || stateFolder.relative(to: path) != nil {
            problems.append(
                ConfigurationProblem(
                    position: position,
                    message: "\(what) \(path) overlaps with the agent's own folder \(stateFolder), "
                        + "expected folders of which none lies in another",
                    isOverlap: true))
        }
    }

    private mutating func checkCollections() {
        var seen: Set<String> = []
        for (name, position) in collections where !seen.insert(name).inserted {
            report(position, "collection \"\(name)\" has two [[folder]] blocks, expected one")
        }
    }

    /// What a device may be called.
    package static func isDeviceName(_ name: String) -> Bool {
        let isPlain = name.unicodeScalars.allSatisfy { !$0.properties.isControlOrMark }
        return isPlain && (1...64).contains(name.utf8.count) && name.first != " "
            && name.last != " "
    }

    package static let deviceNameRule =
        "expected 1 to 64 bytes of text without control characters and spaces at the ends"
}

extension Unicode.Scalar.Properties {
    fileprivate var isControlOrMark: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        default: false
        }
    }
}
