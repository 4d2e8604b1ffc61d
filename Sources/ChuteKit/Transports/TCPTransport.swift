import ChuteSystem
import Synchronization

/// Streams over TCP, at addresses that are given: it finds nobody by itself.
public struct TCPTransport: StreamTransport {
    public let name = "tcp"
    public let rank = 1
    /// `host:port` to listen at; `nil` for none.
    public var listen: String?
    /// Whether `listen` was asked for by its port: then no other port is taken. Otherwise the next
    /// free one of a hundred is.
    public var isPortFixed: Bool
    public var connect: [String]
    /// What members and tickets are told of where this device is; `nil` for where it listens.
    public var announced: [String]?
    /// Where this device can be dialled from anywhere, `host:port`: members and tickets are told
    /// it as well, and it is believed.
    public var publicAddress: String?
    /// Whether a home router is asked, by NAT-PMP or UPnP, to pass on what comes to its outer
    /// address: where this device listens, not only for its own host, and the default gateway is
    /// in a private network. Members and tickets are told that address once a connected device
    /// has dialled it and found this one there: one in the same network, where the router lets
    /// that pass, or one outside that is connected by another way. Without any it waits for one.
    public var isPortMapped = false
    public var retryPauses: ClosedRange<Duration> = .seconds(1)...(.seconds(60))
    private var isLocalOnly = false

    /// Listens and dials; neither without addresses.
    public init(
        listen: String? = nil, isPortFixed: Bool = true, connect: [String] = [],
        announced: [String]? = nil
    ) {
        self.listen = listen
        self.isPortFixed = isPortFixed
        self.connect = connect
        self.announced = announced
    }

    public func check() throws {
        let own = [listen, publicAddress].compactMap(\.self)
        for text in own + connect + (announced ?? []) {
            guard let address = SocketAddress(text) else {
                throw ChuteError(.invalid, "\(text) is not HOST:PORT")
            }
            if isLocalOnly { try address.checkIsLocal() }
        }
    }

    public mutating func stayLocal() throws {
        isLocalOnly = true
        isPortMapped = false
        try check()
    }

    public func canDial(_ address: String) -> Bool {
        guard let address = SocketAddress(address) else { return false }
        guard isLocalOnly else { return true }
        do { try address.checkIsLocal() } catch { return false }
        return true
    }

    public func connect(to address: String) async throws -> ConnectedStream {
        guard let socketAddress = SocketAddress(address) else {
            throw ChuteError(.invalid, "\(address) is not HOST:PORT")
        }
        if isLocalOnly { try socketAddress.checkIsLocal() }
        let descriptor = try await Socket.connect(to: socketAddress)
        let peer = Socket.peerAddress(of: descriptor.raw) ?? socketAddress
        try checkIsHere(peer)
        return ConnectedStream(
            descriptor: descriptor, address: peer.description, transport: name)
    }

    /// Throws `notLocal` for the other end of a connection, or the own address of a socket, that
    /// this transport has nothing to do with.
    private func checkIsHere(_ address: SocketAddress?) throws {
        guard isLocalOnly, !(address?.isOfThisLink ?? false) else { return }
        throw ChuteError(
            .notLocal,
            "\(address?.description ?? "an unknown address") is beyond this host and link, which "
                + "a development identity has nothing to do with")
    }

    public func run(_ host: TransportHost) async {
        let place = ListeningPlace()
        await withDiscardingTaskGroup { group in
            if let listen {
                group.addTask { await self.listen(at: listen, place, host) }
            } else {
                host.report(.running(nil))
            }
            group.addTask {
                for await _ in host.networkChanges() { self.announce(place, host) }
            }
            guard isPortMapped, listen != nil else { return }
            let mapping = PortMappingRun(host, place) { standing in
                place.mapping.withLock { $0 = standing }
                host.report(standing.state)
                self.reportRunning(place, host)
                self.announce(place, host)
            }
            group.addTask { await mapping.run() }
        }
    }

    private func listen(at address: String, _ place: ListeningPlace, _ host: TransportHost) async {
        let listener = TCPListener(
            address: address, portRange: isPortFixed ? 0 : 100,
            remedy: "set another listen in [transports.tcp]"
        ) { peer, _ in
            do { try self.checkIsHere(peer) } catch { return false }
            return true
        }
        await listener.run { own in
            try self.checkIsHere(own)
            place.address.withLock { $0 = own }
            place.changes.fire(.members)
            // A start waits for the state: who asks for the addresses after it is told all of them.
            self.announce(place, host)
            self.reportRunning(place, host)
        } trouble: { why in
            host.report(.waiting(why))
        } accepted: { connection in
            let peer = connection.peer?.description ?? "unknown"
            host.accept(
                ConnectedStream(
                    descriptor: connection.socket(), address: peer, transport: self.name))
        }
    }

    /// Says where it listens, and what the router does.
    private func reportRunning(_ place: ListeningPlace, _ host: TransportHost) {
        guard let own = place.address.withLock({ $0 }) else { return }
        let words = place.mapping.withLock { $0.words }
        host.report(
            .running(([own.description] + [words].compactMap(\.self)).joined(separator: ", ")))
    }

    /// Says where others find this device: what is set, and what a router passes on. Without what
    /// is set that is the address at which it listens, or those of all
    /// interfaces but loopback at its port, without the link-local ones of IPv6, which mean
    /// nothing elsewhere.
    private func announce(_ place: ListeningPlace, _ host: TransportHost) {
        let own = place.address.withLock { $0 }
        // One that waits may have the addresses that were said last.
        guard announced != nil || own != nil || listen == nil else { return }
        var addresses = announced ?? own.map(Self.ways(to:)) ?? []
        let outer = [publicAddress, place.mapping.withLock { $0.address }].compactMap(\.self)
        if listen != nil { addresses += outer.filter { !addresses.contains($0) } }
        host.announce(addresses)
    }

    private static func ways(to own: SocketAddress) -> [String] {
        guard ["::", "0.0.0.0"].contains(own.host) else { return [own.description] }
        return Socket.interfaceAddresses()
            .filter { !$0.host.hasPrefix("fe80:") && (own.host == "::" || !$0.host.contains(":")) }
            .map { SocketAddress(host: $0.host, port: own.port).description }
    }
}

/// Where a transport listens, once it does.
final class ListeningPlace: Sendable {
    let address = Mutex<SocketAddress?>(nil)
    /// Fired with `.members` when the address changed.
    let changes = ChangeSignal()
    /// What a home router does for it.
    let mapping = Mutex(PortMappingRun.Standing())
}
