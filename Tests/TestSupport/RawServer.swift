package import ChuteSystem
import Synchronization

/// A TCP server of this host that does with each connection whatever a test says.
package final class RawServer: Sendable {
    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    /// Closed when the task that accepts ends.
    private final class Listener: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    package let address: SocketAddress
    private let accepted = Counter()
    private let task: Task<Void, Never>

    /// Listens at a free port, or at `port`. A connection is closed when `handle` returns or
    /// throws.
    package init(
        port: UInt16 = 0, _ handle: @escaping @Sendable (ByteEnd) async throws -> Void
    ) throws {
        let listening = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: port))
        address = listening.address
        let listener = Listener(listening.socket())
        let readiness = try Readiness(descriptor: listener.descriptor.raw)
        let accepted = accepted
        // Beside Swift's pool, which other tests may keep busy for a second.
        task = Task(executorPreference: WorkerPool.shared) {
            defer { readiness.close() }
            await withTaskGroup(of: Void.self) { group in
                while await readiness.wait(.read) {
                    while let next = try? Socket.accept(listener.descriptor.raw) {
                        guard let end = try? ByteEnd(next.socket()) else { continue }
                        accepted.count.withLock { $0 += 1 }
                        group.addTask {
                            // A connection that breaks off is what many tests are about.
                            try? await handle(end)
                            end.close()
                        }
                    }
                }
                group.cancelAll()
            }
        }
    }

    deinit { stop() }

    /// Takes no more, and closes those that are open.
    package func stop() { task.cancel() }

    package var acceptedCount: Int { accepted.count.withLock { $0 } }

    /// Where a WebSocket would be.
    package var url: WebSocketURL {
        WebSocketURL(isSecure: false, address: address, path: "/chute")
    }
}
