import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What came in before the other end hung up.
@Suite(.timeLimit(.minutes(2)))
struct LastWordTests {
    /// The end that listens, of one isolation.
    private actor Listener {
        private var channel: FrameChannel?

        func accept(at socket: consuming Socket.Listening) async throws {
            let readiness = try Readiness(descriptor: socket.descriptor.raw)
            defer { readiness.close() }
            while channel == nil, await readiness.wait(.read) {
                guard let connection = try Socket.accept(socket.descriptor.raw) else { continue }
                let descriptor = connection.socket()
                let ready = try Readiness(descriptor: descriptor.raw)
                let channel = FrameChannel(
                    stream: try TLSStream(
                        context: try TLSContext(key: DeviceKey.generate()), role: .server,
                        descriptor: descriptor), readiness: ready)
                try await channel.handshake()
                self.channel = channel
            }
        }

        /// Whether the other end is known to have hung up, by sending something.
        func sendsInVain() throws -> Bool {
            do { try channel?.send(.ping, .map([:])) } catch is OpenSSLError { return true }
            return false
        }

        func types() throws -> [FrameType] {
            var types: [FrameType] = []
            while case .known(let type, _)? = try channel?.nextAtHand() { types.append(type) }
            return types
        }
    }

    @Test func `a goodbye was lost where sending failed before it was read`() async throws {
        let socket = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        let address = socket.address.description
        let listener = Listener()
        do {
            async let peer = RawPeer(at: address)
            try await listener.accept(at: socket)
            try await peer.send(.ping, .map([:]))
            try await peer.send(.goodbye, .map([0: .text("stopping")]))
        }  // the peer is gone: it hung up
        try await eventually("sending fails") { try await listener.sendsInVain() }
        #expect(try await listener.types() == [.ping, .goodbye])
    }
}
