import ChuteSystem
import Glibc
import TestSupport

/// A TCP connection from an address of loopback that the test chooses. Blocks.
struct StrangerSocket: ~Copyable {
    private let descriptor: FileDescriptor

    /// Connects from `source`, such as 127.0.0.9, to `port` at 127.0.0.1.
    init(from source: String = "127.0.0.9", to port: FreePort) throws {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptor = FileDescriptor(owning: raw)
        if raw < 0 { throw SystemError.current("socket") }
        try Self.call("bind", Self.address(source, 0)) { Glibc.bind(raw, $0, $1) }
        try Self.call("connect", Self.address("127.0.0.1", port.number)) {
            Glibc.connect(raw, $0, $1)
        }
    }

    /// Waits until somebody listens at the port.
    static func awaitPort(_ port: FreePort) async throws {
        try await eventually("somebody listens at \(port.address)") {
            (try? StrangerSocket(to: port)) != nil
        }
    }

    /// Sends bytes; `false` once the other end has hung up.
    func send(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes {
            Glibc.send(descriptor.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        } == bytes.count
    }

    /// Whether the other end has hung up by now. Does not wait.
    func isClosed() -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor.raw, &byte, 1, Int32(MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
    }

    /// Gives the descriptor away; whoever takes it closes it.
    consuming func release() -> Int32 { descriptor.release() }

    private static func address(_ host: String, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return address
    }

    private static func call(
        _ name: String, _ address: sockaddr_in,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw SystemError.current(name) }
    }
}
