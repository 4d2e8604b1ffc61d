import CLinux
import Glibc

@testable import ChuteSystem

/// Two streams over a socket pair, driven in turns by one thread.
final class TLSPair {
    struct Stuck: Error {}

    let clientKey: DeviceKey
    let serverKey: DeviceKey
    let client: TLSStream
    let server: TLSStream

    init(
        clientKey: DeviceKey? = nil, serverKey: DeviceKey? = nil,
        clientContext: TLSContext? = nil, serverContext: TLSContext? = nil
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        self.clientKey = try clientKey ?? .generate()
        self.serverKey = try serverKey ?? .generate()
        var numbers: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw SystemError.current("socketpair")
        }
        let one = FileDescriptor(owning: numbers[0])
        let other = FileDescriptor(owning: numbers[1])
        client = try TLSStream(
            context: clientContext ?? TLSContext(key: self.clientKey), role: .client,
            descriptor: one)
        server = try TLSStream(
            context: serverContext ?? TLSContext(key: self.serverKey), role: .server,
            descriptor: other)
    }

    /// Goes on until both are done; both ends are asked, so that either may refuse.
    func handshake() throws {
        for _ in 0..<20 {
            let states = (try client.handshake(), try server.handshake())
            if states == (.done, .done) { return }
        }
        throw Stuck()
    }

    /// Sends a few bytes that fit into the socket.
    func send(_ bytes: [UInt8], from source: TLSStream, to target: TLSStream) throws {
        guard try bytes.withUnsafeBytes({ try source.write($0) }) == .bytes(bytes.count),
            try readOnce(target) == .bytes(bytes.count)
        else { throw Stuck() }
    }

    func readOnce(_ stream: TLSStream) throws -> TLSStream.ReadResult {
        var buffer = [UInt8](repeating: 0, count: 100)
        return try buffer.withUnsafeMutableBytes { try stream.read(into: $0) }
    }
}
