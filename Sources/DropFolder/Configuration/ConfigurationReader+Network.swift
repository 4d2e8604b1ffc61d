import ChuteKit
import ChuteSystem

/// `[network]` and `[[peer]]`.
extension ConfigurationReader {
    mutating func network(_ entry: TOMLEntry, into network: inout NetworkSettings) {
        for entry in table(entry) {
            switch entry.key {
            case "transports": network.transports = transportNames(entry)
            case "upload": network.limits.upload = rate(entry)
            case "download": network.limits.download = rate(entry)
            case "limit_lan": if let isOn = boolean(entry) { network.limitsLAN = isOn }
            default:
                unknown(
                    entry, "key of [network]",
                    among: ["transports", "upload", "download", "limit_lan"])
            }
        }
    }

    /// The transports of a list; one that is not built is noted.
    private mutating func transportNames(_ entry: TOMLEntry) -> [TransportName] {
        var names: [TransportName] = []
        for value in list(entry) {
            guard let text = string(value, for: entry.key) else { continue }
            guard let name = TransportName(rawValue: text) else {
                let all = TransportName.allCases.map(\.rawValue)
                let hint =
                    Spelling.nearest(to: text, among: all).map { "did you mean \"\($0)\"?" }
                    ?? "expected one of " + all.joined(separator: ", ")
                report(value.position, "\"\(text)\" is an unknown transport, \(hint)")
                continue
            }
            if !TransportName.built.contains(name) {
                notices.append(
                    ConfigurationProblem(
                        position: value.position,
                        message: "the transport \(text) is not built yet and has no effect"))
            }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private mutating func rate(_ entry: TOMLEntry) -> UInt64? {
        guard let text = string(entry) else { return nil }
        guard let rate = ByteRate.parse(text) else {
            report(
                entry,
                "\"\(text)\" is no speed, expected \"10 MB/s\", \"80 Mbit/s\", at least "
                    + "\"1 kB/s\", or \"0 B/s\" for no limit")
            return nil
        }
        return rate == 0 ? nil : rate
    }

    mutating func peer(_ entries: [TOMLEntry]) -> PeerSettings? {
        guard let named = entries.first(where: { $0.key == "id" }), let text = string(named) else {
            report(
                entries.first?.position ?? .start,
                "a [[peer]] without an id, expected id = \"…\" as `chute peers --json` prints it")
            return nil
        }
        guard let id = DeviceID(text) else {
            report(named, "\"\(text)\" is no id of a device, expected one as `chute id` prints it")
            return nil
        }
        var peer = PeerSettings(id: id)
        for entry in entries {
            switch entry.key {
            case "id": break
            case "transports": peer.transports = transportNames(entry)
            case "upload": peer.limits.upload = rate(entry)
            case "download": peer.limits.download = rate(entry)
            case "accept": peer.accept = list(entry).compactMap { pattern($0) }
            case "max_size": peer.maxSize = limit(entry)
            case "max_total": peer.maxTotal = limit(entry)
            default:
                unknown(
                    entry, "key of [[peer]]",
                    among: [
                        "id", "transports", "upload", "download", "accept", "max_size",
                        "max_total",
                    ])
            }
        }
        if peers[id] != nil {
            report(named, "\(id.short) has two [[peer]] blocks, expected one")
        }
        peers[id] = named.position
        return peer
    }
}
