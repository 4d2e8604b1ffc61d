import ChuteSystem
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

/// What happens where very many addresses are said to be a member's.
@Suite(.timeLimit(.minutes(2)))
struct CrowdedDialTests {
    /// Finds what the test says. At an address of its own nobody ever answers; all others are of
    /// another engine's `tcp`.
    private struct CrowdedTransport: StreamTransport {
        let name = "crowd"
        let rank = 0
        let peers: [FoundPeer]
        let counts: Counts

        static func == (one: Self, two: Self) -> Bool { one.peers == two.peers }
        func hash(into hasher: inout Hasher) { hasher.combine(peers) }

        func canDial(_ address: String) -> Bool { address.hasPrefix("crowd:") }

        func connect(to address: String) async throws -> ConnectedStream {
            let host = String(address.dropFirst("crowd:".count))
            guard let real = SocketAddress(host) else {
                counts.begin(address)
                defer { counts.end() }
                // As long as the system tries.
                try await Task.sleep(for: .seconds(10))
                throw SystemError(code: 110, call: "connect")
            }
            let socket = try await Socket.connect(to: real)
            return ConnectedStream(owning: socket.release(), address: host, transport: name)
        }

        func run(_ host: TransportHost) async {
            host.report(.running(nil))
            host.found(peers)
            for await _ in host.networkChanges() {}
        }
    }

    private final class Counts: Sendable {
        private struct State {
            var current = 0
            var most = 0
            var addresses: Set<String> = []
        }

        private let state = Mutex(State())

        func begin(_ address: String) {
            state.withLock { state in
                state.current += 1
                state.most = max(state.most, state.current)
                state.addresses.insert(address)
            }
        }

        func end() { state.withLock { $0.current -= 1 } }

        var most: Int { state.withLock { $0.most } }
        var tried: Int { state.withLock { $0.addresses.count } }
    }

    @Test func `a replayed record with 500 silent addresses costs few dials and blocks nobody`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let one = try await TestEngine(
                folder.appending("one"), identity: .sharedKey(.test()))
            let victim = DeviceID(Digest(hashing: [9]))
            let silent = (0..<500).map { FoundPeer(address: "crowd:silent\($0)", device: victim) }
            let newcomers = (0..<500).map { FoundPeer(address: "crowd:new\($0)", device: nil) }
            let real = FoundPeer(
                address: "crowd:\(try await one.address())", device: one.chute.device)
            let counts = Counts()
            let transport = CrowdedTransport(peers: silent + newcomers + [real], counts: counts)
            let two = try await TestEngine(
                folder.appending("two"), identity: .sharedKey(.test()),
                network: .init(transports: [transport]))
            try await one.awaitConnection(to: two)
            try await eventually("what may be dialled is") { counts.tried >= 16 }
            await one.stop()
            await two.stop()
            #expect(counts.most <= 32)
        }
    }
}
