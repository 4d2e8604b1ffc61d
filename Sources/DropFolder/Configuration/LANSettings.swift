/// `[transports.lan]`.
package struct LANSettings: Hashable, Sendable {
    package var isEnabled = true
    /// Whether others are found by multicast DNS, and find this device.
    package var usesMDNS = true
    /// The names of the interfaces that it uses; all of them where there are none.
    package var interfaces: [String] = []
    /// What it is called in DNS-SD.
    package var serviceType = standardServiceType

    package init() {}

    package static let standardServiceType = "_chute._tcp"
}
