package import ChuteSystem
import Synchronization

/// A server of WebSockets on a free port of this host, whose accepted ends a test takes.
package final class WebSocketListener: Sendable {
    package struct Accepted: Sendable {
        package let end: ByteEnd
        /// Where it comes from.
        package let source: String
    }

    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    private final class Holder: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    package let address: SocketAddress
    private let accepted: AsyncStream<Accepted>
    private let task: Task<Void, Never>
    private let settled = Counter()

    package init(
        in service: WebSocketService, path: String = "/chute",
        certificate: ServerCertificate? = nil, trustedProxies: [NetworkPrefix] = []
    ) async throws {
        let (accepted, continuation) = AsyncStream.makeStream(of: Accepted.self)
        self.accepted = accepted
        let server = try await WebSocketServer.open(
            in: service, path: path, certificate: certificate, trustedProxies: trustedProxies
        ) { end, source in
            // Without a descriptor for it the test waits, and fails.
            guard let end = try? ByteEnd(end) else { return }
            continuation.yield(Accepted(end: end, source: source))
        }
        let listening = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        address = listening.address
        let socket = Holder(listening.socket())
        let readiness = try Readiness(descriptor: socket.descriptor.raw)
        let settled = settled
        // Beside Swift's pool, which other tests may keep busy for a second.
        task = Task(executorPreference: WorkerPool.shared) {
            defer { readiness.close() }
            while await readiness.wait(.read) {
                while let next = try? Socket.accept(socket.descriptor.raw) {
                    guard let peer = next.peer else { continue }
                    server.adopt(next.socket(), from: peer) {
                        settled.count.withLock { $0 += 1 }
                    }
                }
            }
        }
    }

    deinit { stop() }

    /// Takes no more.
    package func stop() { task.cancel() }

    /// How many handshakes have ended, well or not.
    package var settledCount: Int { settled.count.withLock { $0 } }

    /// Where it is, without TLS.
    package var url: WebSocketURL {
        WebSocketURL(isSecure: false, address: address, path: "/chute")
    }

    /// The next that was accepted. For one caller at a time.
    package func next() async throws -> Accepted {
        for await next in accepted { return next }
        throw NeverHappened(what: "a connection")
    }
}
