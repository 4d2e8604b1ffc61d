import ChuteSystem

/// What is in effect of the network.
extension ConfigurationWriter {
    static func network(_ configuration: Configuration) -> [String] {
        let (lan, tcp) = (configuration.lan, configuration.tcp)
        let (webSocket, network) = (configuration.webSocket, configuration.network)
        var lines = [
            "", "[transports.lan]", "enabled = \(lan.isEnabled)", "mdns = \(lan.usesMDNS)",
            "interfaces = " + list(lan.interfaces), "service_type = " + quoted(lan.serviceType),
            "", "[transports.tcp]",
        ]
        switch tcp.listen {
        case .standard:
            lines.append(
                "listen = " + quoted(TCPSettings.standardEndpoint.description)
                    + "  # or the next port that is free")
        case .at(let endpoint): lines.append("listen = " + quoted(endpoint.description))
        case .off: lines.append("listen = \"\"")
        }
        lines += [
            "connect = " + list(tcp.connect.map(\.description)),
            "retry_min = " + quoted(TimeSpan.text(tcp.retryPauses.lowerBound)),
            "retry_max = " + quoted(TimeSpan.text(tcp.retryPauses.upperBound)),
            "public = " + quoted(tcp.publicAddress?.description ?? ""),
            "map_port = \(tcp.mapsPort)", "", "[transports.websocket]",
            "listen = " + quoted(webSocket.listen?.description ?? ""),
            "path = " + quoted(webSocket.path), "connect = " + list(webSocket.connect),
            "tls_certificate = " + (webSocket.tlsCertificate.map(shown) ?? "\"\""),
            "tls_key = " + (webSocket.tlsKey.map(shown) ?? "\"\""),
            "trusted_proxies = " + list(webSocket.trustedProxies), "", "[network]",
            "transports = " + list(network.transports.map(\.rawValue)),
        ]
        lines += limits(network.limits) + ["limit_lan = \(network.limitsLAN)"]
        for peer in configuration.peers {
            lines += ["", "[[peer]]", "id = " + quoted(peer.id.description)]
            if let names = peer.transports {
                lines.append("transports = " + list(names.map(\.rawValue)))
            }
            lines += limits(peer.limits)
            if let accept = peer.accept {
                lines.append("accept = " + list(accept.map(\.description)))
            }
            lines += ["max_size = " + size(peer.maxSize), "max_total = " + size(peer.maxTotal)]
        }
        return lines
    }

    private static func limits(_ limits: RateLimits) -> [String] {
        [("upload", limits.upload), ("download", limits.download)].map { key, rate in
            "\(key) = " + quoted(ByteRate.exactText(rate ?? 0))
        }
    }
}
