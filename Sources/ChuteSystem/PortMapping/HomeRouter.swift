/// Asks home routers to pass a port on to this host: by NAT-PMP first, which is quick, then by UPnP.
///
/// ## Concurrency
/// An actor on a thread of its own, since both libraries block: up to some ten seconds where the
/// router does not answer.
package actor HomeRouter {
    private let executor = QueueExecutor(label: "chute.router")
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The last one that answered by UPnP: it is not looked for again for each request.
    private var upnp: (gateway: DefaultGateway, router: UPnPRouter)?

    /// What is asked for, in seconds.
    private static let lease: UInt32 = 3600
    /// A shorter one would have the router asked all the time.
    private static let shortestLease: UInt32 = 120
    /// How many outer ports are tried where others have them.
    private static let attempts: UInt16 = 8

    /// The one of this process: what is asked of a router comes in the order in which it was asked,
    /// also by a transport that takes the place of another.
    package static let shared = HomeRouter()

    package init() {}

    /// Has the gateway pass on a TCP port, by the outer port `external` where it can be had. Asked
    /// again before the lease ends, it goes on.
    package func map(
        _ port: UInt16, at gateway: DefaultGateway, preferring external: UInt16
    ) throws(PortMappingError) -> PortMapping {
        if let mapping = try mapByNATPMP(port, gateway, external) { return mapping }
        if let mapping = try mapByUPnP(port, gateway, external) { return mapping }
        throw .noAnswer(gateway: gateway.address)
    }

    /// Has the router forget a mapping.
    package func remove(_ mapping: PortMapping) throws(PortMappingError) {
        switch mapping.method {
        case .natPMP:
            _ = try NATPMPRouter(gateway: mapping.gateway.address)
                .map(mapping.internalPort, to: 0, seconds: 0)
        case .upnp:
            try router(mapping.gateway)?.unmap(mapping.external.port)
        }
    }

    private func mapByNATPMP(
        _ port: UInt16, _ gateway: DefaultGateway, _ external: UInt16
    ) throws(PortMappingError) -> PortMapping? {
        let router = try NATPMPRouter(gateway: gateway.address)
        guard let address = try router.externalAddress() else { return nil }
        try Self.checkIsPublic(address)
        guard let given = try router.map(port, to: external, seconds: Self.lease) else {
            return nil
        }
        return PortMapping(
            method: .natPMP, gateway: gateway, internalPort: port,
            external: SocketAddress(host: address, port: given.port),
            lease: .seconds(max(given.seconds, Self.shortestLease)))
    }

    private func mapByUPnP(
        _ port: UInt16, _ gateway: DefaultGateway, _ external: UInt16
    ) throws(PortMappingError) -> PortMapping? {
        guard let router = try router(gateway) else { return nil }
        do throws(PortMappingError) {
            guard let address = try router.externalAddress() else {
                throw PortMappingError.notConnected
            }
            try Self.checkIsPublic(address)
            let given = try map(port, external, by: router)
            return PortMapping(
                method: .upnp, gateway: gateway, internalPort: port,
                external: SocketAddress(host: address, port: given), lease: .seconds(Self.lease))
        } catch {
            upnp = nil  // it may be another one at the same address by the next time
            throw error
        }
    }

    /// The outer port that it got.
    private func map(
        _ port: UInt16, _ external: UInt16, by router: UPnPRouter
    ) throws(PortMappingError) -> UInt16 {
        var seconds = Int(Self.lease)
        var wanted = external
        for _ in 0..<Self.attempts {
            do throws(PortMappingError) {
                try router.map(port, to: wanted, seconds: seconds)
                return wanted
            } catch .refused(.upnp, UPnPRouter.knowsNoLeases) where seconds > 0 {
                seconds = 0
            } catch .refused(.upnp, let code) where UPnPRouter.isTaken.contains(code) {
                wanted = wanted < .max ? wanted + 1 : 1024
            }
        }
        throw .refused(.upnp, code: 718)
    }

    private func router(_ gateway: DefaultGateway) throws(PortMappingError) -> UPnPRouter? {
        if let upnp, upnp.gateway == gateway { return upnp.router }
        upnp = nil
        guard let router = try UPnPRouter(gateway: gateway) else { return nil }
        upnp = (gateway, router)
        return router
    }

    private static func checkIsPublic(_ address: String) throws(PortMappingError) {
        guard SocketAddress(host: address, port: 0).isPublic else {
            throw .behindAnother(address: address)
        }
    }
}
