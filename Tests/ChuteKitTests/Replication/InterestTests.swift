import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What a peer asks for that is not here, and what it says to have itself.
@Suite(.timeLimit(.minutes(2)))
struct InterestTests {
    private static func want(_ number: Int, _ digest: [UInt8], _ count: Int) -> CBOR {
        .array([
            .unsigned(UInt64(number)), .bytes(digest), .unsigned(UInt64(count)), .null,
            .unsigned(0),
        ])
    }

    // Each commit would look for all of it, and all sessions of the engine with it.
    @Test func `who asks for much that nobody has still hears of what comes, and costs little`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let engine = try await TestEngine(
                folder.appending("a"), identity: .sharedKey(.test()))
            let peer = try await RawPeer(at: engine.address())
            try await peer.enter(key: SharedKey.testBytes())
            var random = SeededGenerator(seed: 1)
            let bytes = random.bytes(50_000)
            try engine.write(bytes, to: "photo")
            let file = try Folder(at: engine.files).open("photo", FileDescriptor.readOnly)
            let digest = try #require(
                try PieceTree.FileHasher().summary(of: file, expectedLength: UInt64(bytes.count))
            ).id
            try await peer.send(.want, .array([Self.want(0, digest, bytes.count)]))
            for start in stride(from: 1, to: 10_000, by: 500) {
                let wants = (start..<start + 500).map { Self.want($0, random.bytes(32), 1000) }
                try await peer.send(.want, .array(wants))
                for _ in wants { try await peer.next(.absent) }
            }
            try await engine.share(bytes, as: "photo")
            #expect(try await peer.next(.have).holds(digest))
            await engine.stop()
        }
    }

    @Test func `a bitmap is as long as its file has pieces, at most`() throws {
        func have(_ size: UInt64, _ count: Int) -> CBOR {
            .array([
                .bytes([UInt8](repeating: 1, count: 32)), .unsigned(size),
                .bytes([UInt8](repeating: 0xFF, count: count)),
            ])
        }
        for (size, count) in [(0, 0), (1, 0), (1, 1), (9 << 20, 0)] as [(UInt64, Int)] {
            #expect(throws: Never.self) { try Holding(cbor: have(size, count)) }
        }
        for (size, count) in [(1, 2), (1000, 1 << 20), (0, 2)] as [(UInt64, Int)] {
            #expect(throws: WireError.self) { try Holding(cbor: have(size, count)) }
        }
    }
}
