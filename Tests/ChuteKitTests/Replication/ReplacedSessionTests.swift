import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Two connections to one peer, of which one stays.
@Suite(.timeLimit(.minutes(1)))
struct ReplacedSessionTests {
    @Test func `a connection that was replaced before it began does not cut off the other one`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let peer = try await TestEngine(
                folder.appending("peer"), identity: .sharedKey(.test()))
            // It neither dials nor listens: the test holds its connections in the hand.
            let own = try await TestEngine(
                folder.appending("own"), identity: .sharedKey(.test()), listen: nil,
                isRunning: false)
            let fetching = Task { try await own.chute.fetcher.run() }
            do {
                try await checkReplaced(own, peer)
            } catch {
                for line in peer.said { print("peer:", line) }
                fetching.cancel()
                await peer.stop()
                throw error
            }
            fetching.cancel()
            await peer.stop()
        }
    }

    private func checkReplaced(_ own: TestEngine, _ peer: TestEngine) async throws {
        let context = SessionContext(
            store: own.chute.store.writer, reader: own.chute.store.reader,
            tls: try TLSContext(key: DeviceKeyFile(in: own.home).loadOrMake()), instance: 1,
            roots: own.chute.roots, fetcher: own.chute.fetcher, attachments: own.chute.attachments,
            keptFiles: KeptFiles(
                reader: own.chute.store.reader, roots: own.chute.roots, diagnostics: .none),
            presence: own.chute.context.presence, local: own.chute.context.local,
            diagnostics: .none)
        let address = try await peer.address()

        // The peer keeps the later of two connections of one end, as this end would.
        let replaced = try await session(to: address, context)
        let hello = try await replaced.exchangeHellos()
        let staying = try await session(to: address, context)
        let running = Task { try await staying.run(hello: staying.exchangeHellos()) }
        try await expectFetched(1, own, peer)

        await replaced.end(.duplicateConnection)
        let error = await #expect(throws: SessionEnd.self) { try await replaced.run(hello: hello) }
        #expect(error?.reason == .duplicateConnection)
        try await expectFetched(2, own, peer)

        await staying.end(.stopping)
        _ = await running.result
    }

    /// A connection that was let in.
    private func session(to address: String, _ context: SessionContext) async throws
        -> PeerSession
    {
        let stream = try await TCPTransport().connect(to: address)
        let session = try PeerSession(stream, side: .dialed, context: context)
        _ = try await session.prove()
        return session
    }

    /// The bytes of a file that the peer has come over.
    private func expectFetched(_ number: UInt8, _ own: TestEngine, _ peer: TestEngine)
        async throws
    {
        let name = BytePath("file-\(number)")
        try peer.write([number, 2, 3], to: name)
        let id = try await peer.hold(name)
        try await peer.announce(id, as: name)  // what no document names is given to nobody
        try await own.want(id, to: name)
        try await own.awaitFetched(1, within: .seconds(15))
        #expect(try own.read(name) == [number, 2, 3])
    }
}
