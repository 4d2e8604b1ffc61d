import ChuteKit

/// What the engine is told of the network.
extension Configuration {
    var chuteNetwork: Chute.Network {
        var chute = Chute.Network(transports: network.transports.compactMap(transport))
        chute.limits.whole = network.limits.rates
        chute.limits.limitsLAN = network.limitsLAN
        for peer in peers {
            chute.limits.peers[peer.id] = peer.limits.rates
            chute.allowed[peer.id] = peer.transports.map { Set($0.map(\.rawValue)) }
        }
        return chute
    }

    /// The transport of a name; `nil` for one that is off. One that is added has its line here.
    private func transport(_ name: TransportName) -> (any StreamTransport)? {
        switch name {
        case .tcp: tcp.transport
        case .lan: lan.isEnabled ? lan.transport : nil
        case .websocket: webSocket.transport
        case .bluetooth, .bucket, .folder: nil
        }
    }
}

extension RateLimits {
    fileprivate var rates: Chute.Network.Rates { .init(upload: upload, download: download) }
}

extension LANSettings {
    fileprivate var transport: LANTransport {
        LANTransport(
            isMDNSEnabled: usesMDNS, interfaces: interfaces, serviceType: serviceType)
    }
}

extension TCPSettings {
    fileprivate var transport: TCPTransport {
        var transport = TCPTransport(connect: connect.map(\.description))
        switch listen {
        case .off: break
        case .at(let endpoint): transport.listen = endpoint.description
        case .standard:
            transport.listen = Self.standardEndpoint.description
            transport.isPortFixed = false
        }
        transport.retryPauses = retryPauses
        transport.publicAddress = publicAddress?.description
        transport.isPortMapped = mapsPort
        return transport
    }
}

extension WebSocketSettings {
    /// Where nothing is set, what members publish is dialled all the same.
    fileprivate var transport: WebSocketTransport {
        WebSocketTransport(
            listen: listen?.description, path: path, connect: connect,
            tlsCertificate: tlsCertificate, tlsKey: tlsKey, trustedProxies: trustedProxies)
    }
}
