import ChuteKit
import ChuteSystem

/// `[transports.…]`.
extension ConfigurationReader {
    mutating func transports(_ entry: TOMLEntry, into configuration: inout Configuration) {
        for entry in table(entry) {
            switch TransportName(rawValue: entry.key) {
            case .lan: lan(entry, into: &configuration.lan)
            case .tcp: tcp(entry, into: &configuration.tcp)
            case .websocket: webSocket(entry, into: &configuration.webSocket)
            case .bluetooth, .bucket, .folder:
                _ = table(entry)
                notice(entry, "[transports.\(entry.key)] is not built yet and has no effect")
            case nil:
                unknown(entry, "transport", among: TransportName.allCases.map(\.rawValue))
            }
        }
    }

    private mutating func lan(_ entry: TOMLEntry, into lan: inout LANSettings) {
        for entry in table(entry) {
            switch entry.key {
            case "enabled": if let isOn = boolean(entry) { lan.isEnabled = isOn }
            case "mdns": if let isOn = boolean(entry) { lan.usesMDNS = isOn }
            case "interfaces":
                for value in list(entry) {
                    guard let name = string(value, for: "interfaces") else { continue }
                    if Self.isUsable(LANTransport(interfaces: [name])) {
                        lan.interfaces.append(name)
                    } else {
                        report(
                            value.position,
                            "\"\(name)\" is no interface, expected a name such as \"eth0\", of 1 "
                                + "to 15 characters")
                    }
                }
            case "service_type":
                guard let type = string(entry) else { continue }
                if Self.isUsable(LANTransport(serviceType: type)) {
                    lan.serviceType = type
                } else {
                    report(
                        entry,
                        "\"\(type)\" is no service type, expected \"_name._tcp\" with 1 to 15 "
                            + "letters, digits and \"-\"")
                }
            default:
                unknown(
                    entry, "key of [transports.lan]",
                    among: ["enabled", "mdns", "interfaces", "service_type"])
            }
        }
    }

    private mutating func tcp(_ entry: TOMLEntry, into tcp: inout TCPSettings) {
        var (least, greatest) = (tcp.retryPauses.lowerBound, tcp.retryPauses.upperBound)
        for entry in table(entry) {
            switch entry.key {
            case "listen":
                guard let text = string(entry) else { continue }
                if text.isEmpty {
                    tcp.listen = .off
                } else if let endpoint = endpoint(text, entry.value) {
                    tcp.listen = .at(endpoint)
                }
            case "connect":
                for value in list(entry) {
                    guard let text = string(value, for: "connect"),
                        let endpoint = diallable(text, value)
                    else { continue }
                    tcp.connect.append(endpoint)
                }
            case "retry_min": if let pause = pause(entry) { least = pause }
            case "retry_max": if let pause = pause(entry) { greatest = pause }
            case "public":
                guard let text = string(entry), !text.isEmpty else { continue }
                tcp.publicAddress = diallable(text, entry.value)
            case "map_port": if let isOn = boolean(entry) { tcp.mapsPort = isOn }
            default:
                unknown(
                    entry, "key of [transports.tcp]",
                    among: ["listen", "connect", "retry_min", "retry_max", "public", "map_port"])
            }
        }
        guard least <= greatest else {
            report(entry, "retry_min is more than retry_max, expected at most that")
            return
        }
        tcp.retryPauses = least...greatest
    }

    private mutating func pause(_ entry: TOMLEntry) -> Duration? {
        guard let text = string(entry) else { return nil }
        guard let span = TimeSpan.parse(text), (.milliseconds(100)...(.seconds(3600))) ~= span
        else {
            report(
                entry, "\"\(text)\" is no pause, expected \"1 s\" or another one up to an hour")
            return nil
        }
        return span
    }

    private mutating func webSocket(_ entry: TOMLEntry, into webSocket: inout WebSocketSettings) {
        for entry in table(entry) {
            switch entry.key {
            case "listen":
                guard let text = string(entry), !text.isEmpty else { continue }
                webSocket.listen = endpoint(text, entry.value)
            case "path":
                guard let path = string(entry) else { continue }
                if Self.isUsable(WebSocketTransport(path: path)) {
                    webSocket.path = path
                } else {
                    report(entry, "\"\(path)\" is no path of a URL, expected \"/chute\"")
                }
            case "connect":
                for value in list(entry) {
                    guard let url = string(value, for: "connect") else { continue }
                    if WebSocketURL(url) != nil {
                        webSocket.connect.append(url)
                    } else {
                        report(
                            value.position,
                            "\"\(url)\" is no address of a WebSocket, expected "
                                + "\"wss://example.org/chute\"")
                    }
                }
            case "tls_certificate": webSocket.tlsCertificate = optionalPath(entry)
            case "tls_key": webSocket.tlsKey = optionalPath(entry)
            case "trusted_proxies":
                for value in list(entry) {
                    guard let text = string(value, for: "trusted_proxies") else { continue }
                    if Self.isUsable(WebSocketTransport(trustedProxies: [text])) {
                        webSocket.trustedProxies.append(text)
                    } else {
                        report(
                            value.position,
                            "\"\(text)\" is no address or network, expected \"127.0.0.1\" or "
                                + "\"10.0.0.0/8\"")
                    }
                }
            default:
                unknown(
                    entry, "key of [transports.websocket]",
                    among: [
                        "listen", "path", "connect", "tls_certificate", "tls_key",
                        "trusted_proxies",
                    ])
            }
        }
        if (webSocket.tlsCertificate == nil) != (webSocket.tlsKey == nil) {
            report(entry, "tls_certificate and tls_key go together, expected both or none")
        }
    }

    private mutating func optionalPath(_ entry: TOMLEntry) -> BytePath? {
        entry.value.content == .string("") ? nil : path(entry)
    }

    private static func isUsable(_ transport: some StreamTransport) -> Bool {
        do { try transport.check() } catch { return false }
        return true
    }

    private mutating func endpoint(_ text: String, _ value: TOMLValue) -> SocketAddress? {
        if let endpoint = SocketAddress(text) { return endpoint }
        report(
            value.position,
            "\"\(text)\" is no address, expected \"host:port\" or \"[address]:port\"")
        return nil
    }

    private mutating func diallable(_ text: String, _ value: TOMLValue) -> SocketAddress? {
        guard let endpoint = endpoint(text, value) else { return nil }
        if endpoint.port == 0 {
            report(value.position, "port 0 cannot be dialled, expected 1 to 65535")
        }
        return endpoint
    }
}
