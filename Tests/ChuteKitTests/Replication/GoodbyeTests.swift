import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What connected devices are told when this one ends their connections.
@Suite(.timeLimit(.minutes(2)))
struct GoodbyeTests {
    /// How replication ends.
    enum Stop: String, CaseIterable, Sendable { case cancel, stopSync }

    /// The tasks of a session were cancelled with all others, and mostly closed the connection
    /// before anybody said why.
    @Test(arguments: Stop.allCases)
    func `who was connected to a device that stops heard only that the connection was cut`(
        _ stop: Stop
    ) async throws {
        try await withTemporaryDirectory { folder in
            let engine = try await TestEngine(
                folder.appending("a"), identity: .sharedKey(.test()))
            var peers: [RawPeer] = []
            for _ in 0..<12 {
                let peer = try await RawPeer(at: try await engine.address())
                try await peer.enter(key: SharedKey.testBytes())
                peers.append(peer)
            }
            try await eventually("all live") { try await engine.chute.peers().count == 13 }
            switch stop {
            case .cancel: await engine.stop()
            case .stopSync: await engine.chute.stopSync()
            }
            for (number, peer) in peers.enumerated() {
                do {
                    let goodbye = try CBOR.decode(try await peer.next(.goodbye))
                    #expect(goodbye[0]?.textValue == "stopping")
                } catch { Issue.record("peer \(number): \(error)") }
            }
            await engine.stop()
        }
    }
}
