import ChuteSystem
import Glibc

/// Streams over TCP, at addresses that the configuration gives.
struct TCPTransport: StreamTransport {
    let name = "tcp"
    /// How many ports after the given one are tried; 0 for an address that was asked for.
    let portRange: Int

    /// Whether this host and its links are all there is to it.
    let isLocalOnly: Bool

    init(portRange: Int = 0, isLocalOnly: Bool = false) {
        self.portRange = portRange
        self.isLocalOnly = isLocalOnly
    }

    /// Whether an address is dialled at all; `connect` throws where it is not.
    func mayDial(_ address: String) -> Bool {
        guard isLocalOnly else { return true }
        do { try SocketAddress(address)?.checkIsLocal() } catch { return false }
        return true
    }

    /// Throws `notLocal` for the other end of a connection, or the own address of a socket, that
    /// this transport has nothing to do with.
    private func check(_ address: SocketAddress?) throws {
        guard isLocalOnly, !(address?.isOfThisLink ?? false) else { return }
        throw ChuteError(
            .notLocal,
            "\(address?.description ?? "an unknown address") is beyond this host and link, which "
                + "a development identity has nothing to do with")
    }

    func connect(to address: String) async throws -> ConnectedStream {
        guard let socketAddress = SocketAddress(address) else {
            throw ChuteError(.invalid, "\(address) is not HOST:PORT")
        }
        if isLocalOnly { try socketAddress.checkIsLocal() }
        let descriptor = try await Socket.connect(to: socketAddress)
        let peer = Socket.peerAddress(of: descriptor.raw) ?? socketAddress
        try check(peer)
        return ConnectedStream(
            descriptor: descriptor, address: peer.description, transport: name)
    }

    func listen(
        at address: String, listening: @Sendable (ListenState) -> Void,
        accepted: @Sendable (consuming ConnectedStream) -> Void
    ) async {
        var pause = Duration.milliseconds(200)
        while !Task.isCancelled {
            do {
                try await listenOnce(at: address, listening: listening, accepted: accepted)
            } catch {
                listening(.waiting(trouble(at: address, error)))
            }
            do { try await Task.pause(for: pause) } catch { return }
            pause = min(pause * 2, .seconds(10))
        }
    }

    /// Why nobody can connect here, in a sentence with what to do.
    private func trouble(at address: String, _ error: any Error) -> String {
        guard let error = error as? SystemError else { return "\(address): \(error)" }
        let other = "set another listen in [transports.tcp]"
        switch error.code {
        case EADDRINUSE where portRange > 0:
            return "\(address) and the \(portRange) ports after it are taken by other programs: "
                + "stop one of them, or \(other)"
        case EADDRINUSE:
            return "\(address) is taken by another program: stop that one, or \(other)"
        case EADDRNOTAVAIL:
            return "\(address) is no address of this device: wait until it is, or \(other)"
        case EACCES:
            return "\(address) may not be used by this user: \(other), with a port above 1023"
        default: return "\(address): \(error.reason) (\(error.call))"
        }
    }

    private func listenOnce(
        at address: String, listening: @Sendable (ListenState) -> Void,
        accepted: @Sendable (consuming ConnectedStream) -> Void
    ) async throws {
        let socket = try bind(address)
        try check(socket.address)
        listening(.listening(socket.address.description))
        let raw = socket.descriptor.raw
        let readiness = try Readiness(descriptor: raw)
        defer { readiness.close() }
        while await readiness.wait(.read) {
            do throws(SystemError) {
                while let connection = try Socket.accept(raw) {
                    guard isWelcome(connection.peer) else { continue }
                    let peer = connection.peer?.description ?? "unknown"
                    accepted(
                        ConnectedStream(
                            descriptor: connection.socket(), address: peer, transport: name))
                }
            } catch {
                // Out of descriptors or memory: the connection waits in the backlog meanwhile.
                listening(.waiting("\(socket.address): \(error.reason) (\(error.call))"))
                try await Task.pause(for: .seconds(1))
                listening(.listening(socket.address.description))
            }
        }
    }

    private func isWelcome(_ peer: SocketAddress?) -> Bool {
        do { try check(peer) } catch { return false }
        return true
    }

    private func bind(_ address: String) throws -> Socket.Listening {
        guard let first = SocketAddress(address) else {
            throw ChuteError(.invalid, "\(address) is not HOST:PORT")
        }
        var port = Int(first.port)
        while true {
            do {
                guard let number = UInt16(exactly: port) else { break }
                return try Socket.listen(at: SocketAddress(host: first.host, port: number))
            } catch let error as SystemError
                where error.code == EADDRINUSE && port < Int(first.port) + portRange
            {
                port += 1
            }
        }
        throw SystemError(code: EADDRINUSE, call: "bind", path: BytePath(address))
    }
}
