import ChuteSystem
import Glibc

/// Takes TCP connections at one address, for transports that are TCP with something around it.
struct TCPListener: Sendable {
    /// `host:port`.
    let address: String
    /// How many ports after the given one are tried; 0 for an address that was asked for.
    let portRange: Int
    /// What to change in the configuration where the address does not do.
    let remedy: String
    /// Whether a connection from this address, at that own one, is taken at all.
    let isWelcome: @Sendable (_ peer: SocketAddress?, _ own: SocketAddress?) -> Bool

    /// Takes connections until cancelled; `listening` is told each address at which it does, and
    /// `trouble` why it does not, which is tried again.
    func run(
        listening: @Sendable (SocketAddress) throws -> Void, trouble: @Sendable (String) -> Void,
        accepted: @Sendable (consuming Socket.Accepted) -> Void
    ) async {
        var pause = Duration.milliseconds(200)
        while !Task.isCancelled {
            do {
                try await listenOnce(listening, trouble, accepted)
            } catch {
                trouble(words(for: error))
            }
            do { try await Task.pause(for: pause) } catch { return }
            pause = min(pause * 2, .seconds(10))
        }
    }

    /// Why nobody can connect here, in a sentence with what to do.
    private func words(for error: any Error) -> String {
        guard let error = error as? SystemError else { return "\(address): \(error)" }
        switch error.code {
        case EADDRINUSE where portRange > 0:
            return "\(address) and the \(portRange) ports after it are taken by other programs: "
                + "stop one of them, or \(remedy)"
        case EADDRINUSE:
            return "\(address) is taken by another program: stop that one, or \(remedy)"
        case EADDRNOTAVAIL:
            return "\(address) is no address of this device: wait until it is, or \(remedy)"
        case EACCES:
            return "\(address) may not be used by this user: \(remedy), with a port above 1023"
        default: return "\(address): \(error.reason) (\(error.call))"
        }
    }

    private func listenOnce(
        _ listening: @Sendable (SocketAddress) throws -> Void,
        _ trouble: @Sendable (String) -> Void,
        _ accepted: @Sendable (consuming Socket.Accepted) -> Void
    ) async throws {
        let socket = try await bind()
        try listening(socket.address)
        let raw = socket.descriptor.raw
        let readiness = try Readiness(descriptor: raw)
        defer { readiness.close() }
        while await readiness.wait(.read) {
            do throws(SystemError) {
                while let connection = try Socket.accept(raw) {
                    let own = Socket.ownAddress(of: connection.descriptor.raw)
                    guard isWelcome(connection.peer, own) else { continue }
                    accepted(connection)
                }
            } catch {
                // Out of descriptors or memory: the connection waits in the backlog meanwhile.
                trouble("\(socket.address): \(error.reason) (\(error.call))")
                try await Task.pause(for: .seconds(1))
                try listening(socket.address)
            }
        }
    }

    private func bind() async throws -> Socket.Listening {
        guard let named = SocketAddress(address) else {
            throw ChuteError(.invalid, "\(address) is not HOST:PORT")
        }
        // A name is looked up elsewhere: nobody knows how long that takes.
        let first =
            named.host.isEmpty || named.isNumeric
            ? named : try await NameLookup.own.numericAddresses(of: named).first ?? named
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
