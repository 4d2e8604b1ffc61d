import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(4)), .serialized)
struct FaultTests {
    private let identity = Chute.Identity.sharedKey(.test())

    @Test(arguments: 0..<12)
    func `cut again and again at any byte, an attachment arrives whole`(_ seed: Int) async throws {
        try await withTemporaryDirectory { folder in
            var random = SeededGenerator(seed: UInt64(seed))
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let proxy = try FaultyProxy(
                to: try await a.address(),
                faults: .init(cutAfter: Int.random(in: 1...800_000, using: &random)))
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [proxy.address])
            let bytes = random.bytes(3_300_000)
            let document = try await a.share(bytes, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await b.want(id, to: "got", from: a.chute.device)
            for _ in 0..<3 {
                let seen = proxy.connectionCount
                try await eventually("another connection") { proxy.connectionCount > seen }
                proxy.set(
                    .init(
                        cutAfter: Int.random(in: 1...800_000, using: &random),
                        flipAt: Bool.random(using: &random)
                            ? Int.random(in: 0...900_000, using: &random) : nil))
            }
            proxy.set(.init())
            try await b.awaitFetched(1)
            #expect(try b.read("got") == bytes, "seed \(seed)")
            try await b.awaitDocument(document)
            await b.stop()
            await a.stop()
            await proxy.stop()
        }
    }

    @Test func `by a slow way that is cut now and then an attachment arrives whole`() async throws {
        try await withTemporaryDirectory { folder in
            var random = SeededGenerator(seed: 77)
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            func faults() -> FaultyProxy.Faults {
                .init(
                    cutAfter: Int.random(in: 100_000...900_000, using: &random),
                    delay: .milliseconds(200))
            }
            let proxy = try FaultyProxy(to: try await a.address(), faults: faults())
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [proxy.address])
            let bytes = random.bytes(2_200_000)
            let document = try await a.share(bytes, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await b.want(id, to: "got", from: a.chute.device)
            for _ in 0..<2 {
                let seen = proxy.connectionCount
                try await eventually("another connection") { proxy.connectionCount > seen }
                proxy.set(faults())
            }
            proxy.set(.init(delay: .milliseconds(200)))
            try await b.awaitFetched(1, within: .seconds(60))
            #expect(try b.read("got") == bytes)
            await b.stop()
            await a.stop()
            await proxy.stop()
        }
    }

    @Test func `a half-fetched file goes on after a new start`() async throws {
        try await withTemporaryDirectory { folder in
            var random = SeededGenerator(seed: 9)
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let proxy = try FaultyProxy(
                to: try await a.address(), faults: .init(silentAfter: 9_000_000))
            let bytes = random.bytes(20_000_000)
            let document = try await a.share(bytes, as: "film")
            let id = try #require(document["token"]?.attachmentToken?.id)
            let former = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [proxy.address])
            try await former.awaitDocument(document)
            try await former.want(id, to: "got", from: a.chute.device)
            try await eventually("some of it") {
                former.chute.transfers().contains { $0.done > 4_000_000 }
            }
            await former.stop()
            try await former.chute.close()
            // Enough for what is missing, not for all of it again.
            proxy.set(.init(silentAfter: 17_500_000))
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [proxy.address])
            try await b.awaitFetched(1)
            #expect(try b.read("got") == bytes)
            await b.stop()
            await a.stop()
            await proxy.stop()
        }
    }

    static let garbage: [[UInt8]] = [
        [], [0], Array("GET / HTTP/1.1\r\n\r\n".utf8), [0xFF, 0xFF, 0xFF, 0xFF, 1],
        [0x16, 0x03, 0x01], Array(repeating: 0x16, count: 20_000),
    ]

    @Test(arguments: garbage)
    func `bytes of a stranger disturb nobody`(_ bytes: [UInt8]) async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let address = try #require(SocketAddress(try await a.address()))
            let socket = try await Socket.connect(to: address)
            _ = bytes.withUnsafeBytes { send(socket.raw, $0.baseAddress, $0.count, 0) }
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [address.description])
            try await a.awaitConnection(to: b)
            let document = try await a.share([1], as: "x")
            try await b.awaitDocument(document)
            await b.stop()
            await a.stop()
        }
    }

    /// Frames of a member, the first after the hellos.
    static let frames: [(FrameType?, [UInt8])] = [
        (.changes, [0x9B, 0, 0, 0, 0, 0x40, 0, 0, 0]), (.want, [0xFF]), (.have, [0x81, 0x00]),
        (.hello, [0xA0]), (.prove, [0xA0]), (.piece, [1]), (.mismatch, [0x83, 0, 0, 0]),
        (.acknowledge, []), (.goodbye, [0xA0]), (.changes, [0xA1, 0, 0x81, 0x80]),
        (.absent, [0x9B, 0, 0, 0, 0, 0x40, 0, 0, 0]), (nil, [1, 2, 3]),
    ]

    @Test(arguments: 0..<frames.count)
    func `a member that sends garbage is cut off, or heard out, and others go on`(
        _ index: Int
    ) async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let peer = try await RawPeer(at: try await a.address())
            try await peer.enter(key: SharedKey.testBytes())
            let (type, payload) = Self.frames[index]
            try await peer.send(type?.rawValue ?? 200, payload)
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [try await a.address()])
            try await a.awaitConnection(to: b)
            let document = try await a.share([1], as: "x")
            try await b.awaitDocument(document)
            await b.stop()
            await a.stop()
        }
    }

    @Test func `a header of 4 GiB ends the connection`() async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let peer = try await RawPeer(at: try await a.address())
            try await peer.enter(key: SharedKey.testBytes())
            try await eventually("one session") { await a.chute.sessionCount == 1 }
            try await peer.write([0xFF, 0xFF, 0xFF, 0xFF, FrameType.changes.rawValue])
            try await eventually("no session") { await a.chute.sessionCount == 0 }
            await a.stop()
        }
    }

    @Test func `before the proof no long frame is taken`() async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let peer = try await RawPeer(at: try await a.address())
            try await peer.write([0, 1, 0, 0, FrameType.changes.rawValue])
            try await peer.awaitEnd()
            await a.stop()
        }
    }

    @Test func `nothing of a request for a place that is not there is believed`() async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let document = try await a.share([1, 2, 3], as: "x")
            let id = try #require(document["token"]?.attachmentToken?.id)
            let peer = try await RawPeer(at: try await a.address())
            try await peer.enter(key: SharedKey.testBytes())
            let requests = [
                PieceRequest(number: 1, attachment: id, piece: .max, offset: 0),
                PieceRequest(number: 2, attachment: id, piece: 0, offset: 3),
                PieceRequest(number: 3, attachment: id, piece: nil, offset: 0),
                PieceRequest(number: 4, attachment: id, piece: 0, offset: .max),
            ]
            try await peer.send(FrameType.want.rawValue, PieceRequest.cbor(requests).encoded())
            for _ in requests { try await peer.next(.absent) }
            #expect(try await a.chute.store.read { try $0.locations(of: id) }.count == 1)
            await a.stop()
        }
    }

    @Test func `fifty connections leave no descriptor behind`() async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let proxy = try FaultyProxy(to: try await a.address(), faults: .init())
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [proxy.address])
            try await a.awaitConnection(to: b)
            let before = try Self.descriptorCount()
            for round in 0..<50 {
                let peer = try await RawPeer(at: try await a.address())
                if round.isMultiple(of: 2) { try await peer.enter(key: SharedKey.testBytes()) }
            }
            try await eventually("as few descriptors as before") {
                try Self.descriptorCount() <= before
            }
            await b.stop()
            await a.stop()
            await proxy.stop()
        }
    }

    private static func descriptorCount() throws -> Int {
        try Folder(at: "/proc/self/fd").entries().count
    }
}
