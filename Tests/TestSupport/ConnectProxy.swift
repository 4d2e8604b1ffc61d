package import ChuteSystem
import Synchronization

/// An HTTP proxy that knows only `CONNECT`, keeps what it was asked and what passes.
package final class ConnectProxy: Sendable {
    private final class Record: Sendable {
        let requests = Mutex<[String]>([])
        let passed = Mutex<[UInt8]>([])
    }

    private let server: RawServer
    private let record: Record

    /// Leads every name to 127.0.0.1. `answer` is the status line it gives; where that is not
    /// 200, nothing follows.
    package init(answer: String = "HTTP/1.1 200 Connection established") throws {
        let record = Record()
        self.record = record
        server = try RawServer { client in
            let request = try await client.readHeader()
            record.requests.withLock { $0.append(request) }
            try await client.write(answer + "\r\n\r\n")
            guard answer.contains(" 200 "),
                let target = request.split(separator: " ").dropFirst().first,
                let address = SocketAddress(String(target))
            else { return }
            let other = try await ByteEnd(to: SocketAddress(host: "127.0.0.1", port: address.port))
            async let back: Void = Self.pass(from: other, to: client, record)
            try await Self.pass(from: client, to: other, record)
            try await back
        }
    }

    private static func pass(from: ByteEnd, to: ByteEnd, _ record: Record) async throws {
        defer { to.close() }
        while true {
            let bytes = try await from.read()
            if bytes.isEmpty { return }
            record.passed.withLock { $0 += bytes }
            try await to.write(bytes)
        }
    }

    package var address: SocketAddress { server.address }
    /// The headers of all requests.
    package var requests: [String] { record.requests.withLock { $0 } }
    /// All bytes that passed, in both directions.
    package var passed: [UInt8] { record.passed.withLock { $0 } }
}
