import ChuteSystem
import Glibc

@testable import ChuteKit

/// Streams over sockets of the file system: what an application would write to add a transport.
struct ToyTransport: StreamTransport {
    let name = "toy"
    let rank = 0
    /// The path of the socket that is listened at; `nil` for none.
    var listen: String?
    var connect: [String] = []

    private static let scheme = "toy:"

    func canDial(_ address: String) -> Bool { address.hasPrefix(Self.scheme) }

    func connect(to address: String) async throws -> ConnectedStream {
        let socket = try makeSocket()
        try withAddress(of: String(address.dropFirst(Self.scheme.count))) { pointer, length in
            _ = try retrying("connect") { Glibc.connect(socket.raw, pointer, length) }
        }
        return ConnectedStream(owning: socket.release(), address: address, transport: name)
    }

    func run(_ host: TransportHost) async {
        guard let listen else { return host.report(.running(nil)) }
        do {
            let socket = try makeSocket()
            try withAddress(of: listen) { pointer, length in
                _ = try retrying("bind") { bind(socket.raw, pointer, length) }
            }
            _ = try retrying("listen") { Glibc.listen(socket.raw, 8) }
            host.report(.running(listen))
            host.announce([Self.scheme + listen])
            let readiness = try Readiness(descriptor: socket.raw)
            defer { readiness.close() }
            while await readiness.wait(.read) {
                while let connection = try Socket.accept(socket.raw) {
                    host.accept(
                        ConnectedStream(
                            descriptor: connection.socket(), address: listen, transport: name))
                }
            }
        } catch {
            host.report(.waiting("\(listen): \(error)"))
        }
    }

    private func makeSocket() throws -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return FileDescriptor(owning: try retrying("socket") { socket(AF_UNIX, type, 0) })
    }

    private func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
