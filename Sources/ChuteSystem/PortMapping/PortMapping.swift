/// A port of a router's outer address that it passes on to this host.
package struct PortMapping: Hashable, Sendable {
    /// What the router was asked by.
    package enum Method: String, Hashable, Sendable { case natPMP = "NAT-PMP", upnp = "UPnP" }

    package let method: Method
    package let gateway: DefaultGateway
    /// Where this host listens.
    package let internalPort: UInt16
    /// Where it can be dialled from outside.
    package let external: SocketAddress
    /// How long the router keeps it, unless it is asked for again.
    package let lease: Duration

    package init(
        method: Method, gateway: DefaultGateway, internalPort: UInt16, external: SocketAddress,
        lease: Duration
    ) {
        self.method = method
        self.gateway = gateway
        self.internalPort = internalPort
        self.external = external
        self.lease = lease
    }
}
