/// A service as it was found and resolved on one interface.
package struct ServiceSighting: Hashable, Sendable {
    /// The instance's name.
    package let name: String
    /// The name of the interface, such as `eth0`.
    package let interface: String
    /// Where it is: a link-local address with its zone.
    package let address: SocketAddress
    /// The name of the host that it runs on, as that host says.
    package let host: String
    /// The strings of the TXT record.
    package let text: [[UInt8]]

    package init(
        name: String, interface: String, address: SocketAddress, host: String, text: [[UInt8]]
    ) {
        self.name = name
        self.interface = interface
        self.address = address
        self.host = host
        self.text = text
    }
}
