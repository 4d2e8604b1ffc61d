import ChuteSystem

/// The sections and keys of parts that are not built yet.
enum LaterKeys {
    static let network = ["transports", "upload", "download"]
    static let peer = [
        "id", "transports", "upload", "download", "accept", "max_size", "max_total",
    ]
    static let tcp = ["retry_min", "retry_max", "public", "map_port"]
    /// An empty list where the keys are not settled either.
    static let transports: [String: [String]] = [
        "lan": ["enabled", "mdns", "interfaces", "service_type"],
        "websocket": [
            "listen", "path", "connect", "tls_certificate", "tls_key", "trusted_proxies",
        ],
        "bluetooth": [], "bucket": [], "folder": [],
    ]
}

extension ConfigurationReader {
    mutating func transports(_ entry: TOMLEntry, into configuration: inout Configuration) {
        for entry in table(entry) {
            if entry.key == "tcp" {
                tcp(entry, into: &configuration)
            } else if let keys = LaterKeys.transports[entry.key] {
                notBuilt(entry, "[transports.\(entry.key)]", keys: keys)
            } else {
                unknown(entry, "transport", among: ["tcp"] + LaterKeys.transports.keys.sorted())
            }
        }
    }

    private mutating func tcp(_ entry: TOMLEntry, into configuration: inout Configuration) {
        for entry in table(entry) {
            switch entry.key {
            case "listen":
                guard let text = string(entry) else { continue }
                if text.isEmpty {
                    configuration.tcp.listen = .off
                } else if let endpoint = endpoint(text, entry.value) {
                    configuration.tcp.listen = .at(endpoint)
                }
            case "connect":
                for value in list(entry) {
                    guard let text = string(value, for: "connect"),
                        let endpoint = endpoint(text, value)
                    else { continue }
                    if endpoint.port == 0 {
                        report(value.position, "port 0 cannot be dialled, expected 1 to 65535")
                    }
                    configuration.tcp.connect.append(endpoint)
                }
            case let key where LaterKeys.tcp.contains(key):
                notice(entry, "\(key) of [transports.tcp] is not built yet and has no effect")
            default:
                unknown(
                    entry, "key of [transports.tcp]", among: ["listen", "connect"] + LaterKeys.tcp)
            }
        }
    }

    private mutating func endpoint(_ text: String, _ value: TOMLValue) -> SocketAddress? {
        if let endpoint = SocketAddress(text) { return endpoint }
        report(
            value.position,
            "\"\(text)\" is no address, expected \"host:port\" or \"[address]:port\"")
        return nil
    }

    /// Notes a section of a later part; its keys, where they are settled, must be right already.
    mutating func notBuilt(_ entry: TOMLEntry, _ section: String, keys: [String]) {
        for entry in table(entry) {
            guard !keys.isEmpty, !keys.contains(entry.key) else { continue }
            unknown(entry, "key of \(section)", among: keys)
        }
        notice(entry, "\(section) is not built yet and has no effect")
    }
}
