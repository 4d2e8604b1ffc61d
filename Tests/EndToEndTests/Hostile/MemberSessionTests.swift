import ChuteSystem
import TestSupport
import Testing

/// One who holds the key of the space and says what no engine says, to a running agent.
@Suite(.timeLimit(.minutes(3)))
struct MemberSessionTests {
    private static let hugeArray: [UInt8] = [0x9B, 0, 0, 0, 0, 0x40, 0, 0, 0]

    /// What is written after the hellos, each to a connection of its own.
    private static let bytes: [[UInt8]] =
        RawPeer.Frame.allCases.flatMap { type -> [[UInt8]] in
            let type = type.rawValue
            return [
                [0xFF, 0xFF, 0xFF, 0xFF, type],  // 4 GiB
                [0, 0, 0, 10, type] + hugeArray,
                [0, 0, 0, 10, type, 0xA1, 0x00] + Array(hugeArray.prefix(7)),
                [0, 0, 0, 200, type, 0x81, 0x81],  // half a frame, then silence
                [0, 0, 0, 2, type, 0xFF], [0, 0, 0, 1, type],
                // Arrays in arrays, deeper than anything goes.
                [0, 0, 0x0F, 0xA1, type] + [UInt8](repeating: 0x81, count: 4000),
            ]
        } + [[0, 0, 0, 0], [0x80, 0, 0, 0, 200], [0, 0, 0, 4, 200, 1, 2, 3], [0, 0, 0]]

    private func key(_ pair: AgentPair) throws -> [UInt8] {
        let file = try FileDescriptor.open(pair.key, FileDescriptor.readOnly)
        return try file.read(count: 32, at: 0)
    }

    private func expectGoodFile(_ pair: AgentPair, _ agent: AgentProcess, seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let photo = SampleFiles.photo(2_000_000, using: &random)
        try pair.laptop.drop(photo, as: "good.jpg")
        do {
            try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/good.jpg": .init(photo)]))
        } catch {
            throw NeverHappened(what: "\(error); \(try agent.log.suffix(4000))")
        }
        try await eventually("the receipt, and no transfer") {
            "\(try await pair.laptop.status())"
        } holds: {
            let status = try await pair.laptop.status()
            let pi = status.peers.first { $0.name == "pi" }?.id
            let delivery = status.folder?.peers.first { $0.id == pi }
            return status.transfers.isEmpty && delivery?.delivered == 1
        }
        let peak = try agent.peakMemory()
        #expect(peak < StrangerTests.memoryLimit, "\(peak >> 10) KiB")
    }

    @Test func `no frame of a member ends the agent, fills its memory or holds others up`()
        async throws
    {
        try await AgentPair.running { pair, agents in
            try await StrangerSocket.awaitPort(pair.port)
            let key = try key(pair)
            var peers: [RawPeer] = []
            for bytes in Self.bytes {
                let peer = try await RawPeer(at: "\(pair.port.address)")
                try await peer.enter(key: key)
                try await peer.write(bytes)
                peers.append(peer)
            }
            // Those who were not hung up on are still connected.
            try await expectGoodFile(pair, agents[0], seed: 81)
            #expect(peers.count == Self.bytes.count)
        }
    }

    /// A frame of a member that is as large as its type may be, and costs as much as it can.
    enum Bulk: String, CaseIterable, Sendable {
        case emptyArrays, emptyTexts, maps, wants, haves, pages

        var frame: (RawPeer.Frame, [UInt8]) {
            switch self {
            case .emptyArrays: (.changes, Self.array(of: [0x80], (1 << 20) - 8))
            case .emptyTexts: (.changes, [0xA1, 0x00] + Self.array(of: [0x60], (1 << 20) - 8))
            case .maps: (.changes, Self.array(of: [0xA1, 0x00, 0xA0], 300_000))
            case .wants: (.want, Self.array(of: [0x80], (1 << 20) - 8))
            case .haves: (.have, Self.array(of: [0x80], (1 << 20) - 8))
            case .pages:
                (.changes, [0xA1, 0x00] + Self.array(of: [0x83, 0x40, 0x40, 0x80], 250_000))
            }
        }

        private static func array(of item: [UInt8], _ count: Int) -> [UInt8] {
            [0x9A] + withUnsafeBytes(of: UInt32(count).bigEndian, Array.init)
                + (0..<count).flatMap { _ in item }
        }
    }

    @Test(arguments: Bulk.allCases)
    func `the largest frames of a member cost a bounded amount of memory`(of bulk: Bulk)
        async throws
    {
        try await AgentPair.running { pair, agents in
            try await StrangerSocket.awaitPort(pair.port)
            let (type, payload) = bulk.frame
            for _ in 0..<3 {
                let peer = try await RawPeer(at: "\(pair.port.address)")
                try await peer.enter(key: try key(pair))
                try await peer.send(type.rawValue, payload)
                // Answered, or hung up on: dealt with.
                try await peer.send(.ping, .map([:]))
                _ = try? await peer.next(.ping)
            }
            try await expectGoodFile(pair, agents[0], seed: 82)
        }
    }
}
