import ChuteSystem

/// Streams over TCP on the local network, where members find each other without an address: by
/// multicast DNS, through the Avahi daemon or without one.
public struct LANTransport: StreamTransport {
    public let name = "lan"
    public let rank = 0
    /// Whether others are looked for and told of this device; without it, those are dialled and
    /// dial that know an address.
    public var isMDNSEnabled: Bool
    /// The interfaces that are used, by their names; none for all but loopback.
    public var interfaces: [String]
    /// The DNS-SD type under which devices announce themselves.
    public var serviceType: String
    private var isLocalOnly = false

    static let preferredPort: UInt16 = 4041
    /// How many ports after that one are tried.
    static let portRange = 100

    /// Uses these interfaces.
    public init(
        isMDNSEnabled: Bool = true, interfaces: [String] = [],
        serviceType: String = "_chute._tcp"
    ) {
        self.isMDNSEnabled = isMDNSEnabled
        self.interfaces = interfaces
        self.serviceType = serviceType
    }

    public func check() throws {
        guard interfaces.count <= 32 else {
            throw ChuteError(.invalid, "\(interfaces.count) interfaces are too many: name 32")
        }
        for name in interfaces where !Self.isInterfaceName(name) {
            throw ChuteError(.invalid, "\(name) is no name of an interface")
        }
        guard Self.isServiceType(serviceType) else {
            throw ChuteError(
                .invalid, "\(serviceType) is no service type such as _chute._tcp (RFC 6763)")
        }
    }

    private static func isInterfaceName(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2F && $0 != 0x3A }
    }

    /// One label of letters, digits and single dashes, of which none is at an end and one is a letter
    /// (RFC 6335, section 5.1).
    private static func isServiceType(_ type: String) -> Bool {
        guard type.hasPrefix("_"), type.hasSuffix("._tcp") else { return false }
        let label = type.utf8.dropFirst().dropLast(5)
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        let hasDoubleDash = zip(label, label.dropFirst()).contains { $0 == (0x2D, 0x2D) }
        return (1...15).contains(label.count) && label.first != 0x2D && label.last != 0x2D
            && !hasDoubleDash
            && label.contains(where: isLetter)
            && label.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }

    public mutating func stayLocal() throws { isLocalOnly = true }

    public func canDial(_ address: String) -> Bool {
        LANAddress.socketAddress(address).map(reaches) ?? false
    }

    public func connect(to address: String) async throws -> ConnectedStream {
        guard let socketAddress = LANAddress.socketAddress(address) else {
            throw ChuteError(.invalid, "\(address) is not lan://HOST:PORT")
        }
        if isLocalOnly { try socketAddress.checkIsLocal() }
        let descriptor = try await Socket.connect(to: socketAddress)
        let peer = Socket.peerAddress(of: descriptor.raw) ?? socketAddress
        return ConnectedStream(
            descriptor: descriptor, address: peer.description, transport: name)
    }

    /// Whether an address may be at the other end.
    func reaches(_ address: SocketAddress) -> Bool { !isLocalOnly || address.isOfThisLink }

    /// Whether an interface is used.
    func isChosen(_ address: InterfaceAddress) -> Bool {
        interfaces.isEmpty ? !address.isLoopback : interfaces.contains(address.interface)
    }

    /// Whether a connection is taken that came to `own`, an address of this host.
    func isWelcome(
        _ peer: SocketAddress?, at own: SocketAddress?, of addresses: [InterfaceAddress]
    ) -> Bool {
        guard let peer, let own, reaches(peer) else { return false }
        return addresses.contains { $0.address.host == own.host && isChosen($0) }
    }

    public func run(_ host: TransportHost) async {
        await LANRun(self, host).run()
    }
}
