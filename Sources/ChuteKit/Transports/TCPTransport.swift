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
        for text in [listen].compactMap(\.self) + connect + (announced ?? []) {
            guard let address = SocketAddress(text) else {
                throw ChuteError(.invalid, "\(text) is not HOST:PORT")
            }
            if isLocalOnly { try address.checkIsLocal() }
        }
    }

    public mutating func stayLocal() throws {
        isLocalOnly = true
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
            host.report(.running(own.description))
            self.announce(place, host)
        } trouble: { why in
            host.report(.waiting(why))
        } accepted: { connection in
            let peer = connection.peer?.description ?? "unknown"
            host.accept(
                ConnectedStream(
                    descriptor: connection.socket(), address: peer, transport: self.name))
        }
    }

    /// Says where others find this device: the address at which it listens, or those of all
    /// interfaces but loopback at its port, without the link-local ones of IPv6, which mean
    /// nothing elsewhere.
    private func announce(_ place: ListeningPlace, _ host: TransportHost) {
        if let announced { return host.announce(announced) }
        guard let own = place.address.withLock({ $0 }) else {
            if listen == nil { host.announce([]) }
            return
        }
        guard ["::", "0.0.0.0"].contains(own.host) else {
            return host.announce([own.description])
        }
        host.announce(
            Socket.interfaceAddresses()
                .filter {
                    !$0.host.hasPrefix("fe80:") && (own.host == "::" || !$0.host.contains(":"))
                }
                .map { SocketAddress(host: $0.host, port: own.port).description })
    }
}

/// Where a transport listens, once it does.
final class ListeningPlace: Sendable {
    let address = Mutex<SocketAddress?>(nil)
}
