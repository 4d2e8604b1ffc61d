/// What others on the links hear of one service of this host.
package struct ServiceAnnouncement: Hashable, Sendable {
    /// An address of this host on one of its interfaces.
    package struct Address: Hashable, Sendable {
        /// The index of the interface where it is told.
        package let interface: Int32
        /// In numbers, without a zone.
        package let host: String

        package init(interface: Int32, host: String) {
            self.interface = interface
            self.host = host
        }
    }

    /// The instance: at most 63 bytes.
    package var name: String
    /// The name whose addresses are told: one label below `local`. Not the name of this host.
    package var host: String
    package var port: UInt16
    /// The strings of the TXT record, each of at most 255 bytes.
    package var text: [[UInt8]]
    /// The interfaces where it is told by their index; `nil` for all.
    package var interfaces: Set<Int32>?
    package var addresses: Set<Address>

    package init(
        name: String, host: String, port: UInt16, text: [[UInt8]], interfaces: Set<Int32>?,
        addresses: Set<Address>
    ) {
        self.name = name
        self.host = host
        self.port = port
        self.text = text
        self.interfaces = interfaces
        self.addresses = addresses
    }
}
