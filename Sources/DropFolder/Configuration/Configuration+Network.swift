import ChuteKit

/// What the engine is told of the network.
extension Configuration {
    var chuteNetwork: Chute.Network {
        Chute.Network(transports: network.transports.compactMap(transport))
    }

    /// The transport of a name; `nil` for one that is off. One that is added has its line here.
    private func transport(_ name: TransportName) -> (any StreamTransport)? {
        switch name {
        case .tcp: tcp.transport
        case .lan: lan.isEnabled ? lan.transport : nil
        case .websocket, .bluetooth, .bucket, .folder: nil
        }
    }
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
        return transport
    }
}
