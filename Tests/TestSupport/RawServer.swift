package import ChuteSystem
import Synchronization

/// A TCP server of this host that does with each connection whatever a test says.
package final class RawServer: Sendable {
    private final class State: Sendable {
        let descriptor: FileDescriptor
        let acceptedCount = Mutex(0)
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    package let address: SocketAddress
    private let state: State
    private let task: Task<Void, Never>

    /// Listens at a free port, or at `port`. A connection is closed when `handle` returns or
    /// throws.
    package init(
        port: UInt16 = 0, _ handle: @escaping @Sendable (ByteEnd) async throws -> Void
    ) throws {
        let listening = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: port))
        address = listening.address
        let state = State(listening.descriptor)
        let readiness = try Readiness(descriptor: state.descriptor.raw)
        self.state = state
        task = Task {
            defer { readiness.close() }
            await withTaskGroup(of: Void.self) { group in
                while await readiness.wait(.read) {
                    while let next = try? Socket.accept(state.descriptor.raw) {
                        guard let end = try? ByteEnd(next.socket()) else { continue }
                        state.acceptedCount.withLock { $0 += 1 }
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

    package var acceptedCount: Int { state.acceptedCount.withLock { $0 } }

    /// Where a WebSocket would be.
    package var url: WebSocketURL {
        WebSocketURL(isSecure: false, address: address, path: "/chute")
    }
}
