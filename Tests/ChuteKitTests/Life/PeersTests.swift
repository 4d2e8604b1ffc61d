import ChuteSystem
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

/// Who is connected, what devices say of themselves, and who is let in.
@Suite(.timeLimit(.minutes(2)))
struct PeersTests {
    private func open(_ directory: BytePath, connect: [String] = []) async throws -> Chute {
        try await Chute.open(
            identity: .sharedKey(.test()), persistenceDirectory: directory,
            network: .init(listen: "127.0.0.1:0", isPortFixed: true, connect: connect),
            diagnostics: .none)
    }

    private func address(of chute: Chute) async throws -> String {
        guard case .running(let address?)? = await chute.transportStates["tcp"] else {
            throw NeverHappened(what: "listening")
        }
        return address
    }

    /// Two engines, of which the second dials the first once it is started.
    private func withTwo(_ body: (Chute, Chute) async throws -> Void) async throws {
        try await withTemporaryDirectory { folder in
            let one = try await open(folder.appending("a"))
            try await one.startSync()
            let two = try await open(folder.appending("b"), connect: [try await address(of: one)])
            try await body(one, two)
            try await one.close()
            try await two.close()
        }
    }

    private func put(_ name: String, in chute: Chute) async throws -> DocumentID {
        try await chute.store.write {
            try $0.put(
                seed: Digest(hashing: Array(name.utf8)), in: "things", fields: ["a": .null]
            ).id
        }
    }

    private func has(_ id: DocumentID, _ chute: Chute) async throws -> Bool {
        try await chute.store.read { try $0.document(id, in: "things") } != nil
    }

    @Test func `peers say who is here, what they say of themselves, and since when`() async throws {
        try await withTwo { one, two in
            try one.setPeerMetadata(["role": .string("kiosk")])
            try two.setPeerMetadata(["role": .string("phone")])
            let before = StoreWriter.milliseconds() / 1000
            #expect(try await one.peers().map(\.device) == [one.device])
            try await two.startSync()
            try await eventually("both know") {
                let (left, right) = (try await one.peers().count, try await two.peers().count)
                return left == 2 && right == 2
            }
            let peers = try await one.peers()
            #expect(peers[0].isLocal)
            #expect(peers[0].metadata["role"]?.string == "kiosk")
            #expect(peers[0].connections.isEmpty)
            #expect(peers[1].device == two.device)
            #expect(!peers[1].isLocal)
            #expect(peers[1].metadata["role"]?.string == "phone")
            let connection = try #require(peers[1].connections.first)
            #expect(peers[1].connections.count == 1)
            #expect(connection.transport == "tcp")
            #expect(connection.address.hasPrefix("127.0.0.1:"))
            #expect(connection.since >= before)
            await two.stopSync()
            try await eventually("it is gone") { try await one.peers().count == 1 }
        }
    }

    @Test func `new metadata is for new connections`() async throws {
        try await withTwo { one, two in
            try two.setPeerMetadata(["n": .integer(1)])
            try await two.startSync()
            try await eventually("connected") { try await one.peers().count == 2 }
            try two.setPeerMetadata(["n": .integer(2)])
            #expect(try await one.peers()[1].metadata["n"]?.integer == 1)
            await two.stopSync()
            try await two.startSync()
            try await eventually("the new one") {
                try await one.peers().last?.metadata["n"]?.integer == 2
            }
        }
    }

    @Test func `metadata has 4 KiB and a byte more is too much`() async throws {
        try await withTwo { one, two in
            func metadata(_ count: Int) -> Fields {
                ["m": .bytes([UInt8](repeating: 7, count: count))]
            }
            // A map, a name of one byte, and the head of the bytes.
            let most = LocalPeer.metadataLimit - 1 - 2 - 3
            try two.setPeerMetadata(metadata(most))
            let error = #expect(throws: ChuteError.self) {
                try two.setPeerMetadata(metadata(most + 1))
            }
            #expect(error?.code == .tooLarge)
            #expect(two.peerMetadata == metadata(most))
            try await two.startSync()
            try await eventually("all of it came") {
                try await one.peers().last?.metadata == metadata(most)
            }
        }
    }

    @Test func `a hello with more metadata than may be is none`() throws {
        var hello = Hello(instance: 1, cursor: nil, counter: 0)
        hello.metadata = [UInt8](repeating: 0, count: LocalPeer.metadataLimit)
        #expect(try Hello(cbor: hello.cbor).metadata == hello.metadata)
        #expect(hello.cbor.encoded().count <= FrameType.hello.payloadLimit)
        hello.metadata.append(0)
        #expect(throws: WireError.self) { try Hello(cbor: hello.cbor) }
        hello.metadata = []
        #expect(hello.cbor[5] == nil)
    }

    @Test func `an observer hears of who comes and goes, until it is dropped`() async throws {
        try await withTwo { one, two in
            let counts = Mutex<[Int]>([])
            var observer: PeerObserver? = one.observePeers { peers in
                counts.withLock { $0.append(peers.count) }
            }
            try await eventually("the first") { counts.withLock { $0 } == [1] }
            try await two.startSync()
            try await eventually("it came") { counts.withLock { $0.last } == 2 }
            await two.stopSync()
            try await eventually("it went") { counts.withLock { $0.last } == 1 }
            _ = observer
            observer = nil
            let heard = counts.withLock { $0.count }
            try await two.startSync()
            try await eventually("it came again") { try await one.peers().count == 2 }
            // One who hears is told by the same change.
            for await peers in one.peerUpdates() where peers.count == 2 { break }
            #expect(counts.withLock { $0.count } == heard)
        }
    }

    @Test func `an observer may cancel itself, and close the engine`() async throws {
        try await withTwo { one, _ in
            let calls = Atomic<Int>(0)
            let own = Mutex<PeerObserver?>(nil)
            let observer = one.observePeers { _ in
                calls.add(1, ordering: .relaxed)
                own.withLock { $0 }?.cancel()
                Task { try await one.close() }
            }
            own.withLock { $0 = observer }
            try await eventually("closed") {
                do { _ = try await one.peers() } catch { return true }
                return false
            }
            #expect(calls.load(ordering: .relaxed) >= 1)
            own.withLock { $0 = nil }
        }
    }

    @Test func `a connection that is refused gets nothing, and is tried again`() async throws {
        try await withTwo { one, two in
            let id = try await put("of one", in: one)
            try two.setPeerMetadata(["role": .string("phone")])
            let asked = Mutex<[ConnectionRequest]>([])
            one.connectionHandler = { request in
                asked.withLock { $0.append(request) }
                return .refuse
            }
            try await two.startSync()
            try await eventually("asked again") { asked.withLock { $0.count } >= 3 }
            let request = try #require(asked.withLock { $0.first })
            #expect(request.device == two.device)
            #expect(request.metadata["role"]?.string == "phone")
            #expect(request.transport == "tcp")
            #expect(request.address.hasPrefix("127.0.0.1:"))
            #expect(try await one.peers().count == 1)
            #expect(try await !has(id, two))
            one.connectionHandler = { _ in .allow }
            try await eventually("let in") { try await has(id, two) }
            one.connectionHandler = nil
        }
    }

    @Test func `who dialled may refuse as well`() async throws {
        try await withTwo { one, two in
            let id = try await put("of two", in: two)
            let count = Atomic<Int>(0)
            two.connectionHandler = { _ in
                count.add(1, ordering: .relaxed)
                return .refuse
            }
            try await two.startSync()
            try await eventually("asked again") { count.load(ordering: .relaxed) >= 3 }
            #expect(try await !has(id, one))
            #expect(try await two.peers().count == 1)
        }
    }

    @Test func `a refused device in the middle of sending hears the reason, not a cut`()
        async throws
    {
        try await withTwo { one, _ in
            let held = Mutex<CheckedContinuation<Void, Never>?>(nil)
            one.connectionHandler = { _ in
                await withCheckedContinuation { waiting in held.withLock { $0 = waiting } }
                return .refuse
            }
            let peer = try await RawPeer(at: address(of: one))
            try await peer.enter(key: SharedKey.testBytes())
            try await eventually("asked") { held.withLock { $0 != nil } }
            let more = CBOR.map([2: .bytes([UInt8](repeating: 1, count: 3 << 10))])
            for _ in 0..<50 { try await peer.send(.ping, more) }
            held.withLock { $0.take() }?.resume()
            // Far less than what it has for hearing it, and far more than the refusal takes: each
            // of these fails once the connection is reset.
            let end = ContinuousClock.now + .milliseconds(300)
            while ContinuousClock.now < end { try await peer.send(.ping, more) }
            let goodbye = try await CBOR.decode(peer.next(.goodbye))
            #expect(goodbye[0]?.textValue == "connection-refused")
        }
    }

    @Test func `a handler that never answers holds up no stop`() async throws {
        try await withTwo { one, two in
            let isAsked = Atomic<Bool>(false)
            let held = Mutex<CheckedContinuation<Void, Never>?>(nil)
            one.connectionHandler = { _ in
                await withCheckedContinuation { waiting in
                    held.withLock { $0 = waiting }
                    isAsked.store(true, ordering: .releasing)
                }
                return .allow
            }
            try await two.startSync()
            try await eventually("asked") { isAsked.load(ordering: .acquiring) }
            await one.stopSync()
            #expect(!one.isSyncActive)
            held.withLock { $0.take() }?.resume()
        }
    }
}
