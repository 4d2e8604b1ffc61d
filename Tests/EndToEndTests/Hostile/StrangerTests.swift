import ChuteSystem
import Glibc
import Synchronization
import TestSupport
import Testing

/// Whoever connects to the port of a running agent and is no member.
@Suite(.timeLimit(.minutes(3)))
struct StrangerTests {
    /// An agent of two peers and a few photos takes half of it, built for debugging.
    static let memoryLimit = 64 << 20

    /// Bytes that are no TLS, or only its beginning.
    private static let garbage: [[UInt8]] = [
        [], [0], Array("GET / HTTP/1.1\r\nHost: pi\r\n\r\n".utf8), Array("SSH-2.0-x\r\n".utf8),
        [0xFF, 0xFF, 0xFF, 0xFF, 1], [0x16, 0x03, 0x01], [0x16, 0x03, 0x01, 0xFF, 0xFF, 1],
        Array(repeating: 0x16, count: 20_000), Array(repeating: 0, count: 200_000),
    ]

    /// Frames after the handshake, of one who has proved nothing. In most the header says more
    /// than there is.
    private static let frames: [[UInt8]] = [
        [0xFF, 0xFF, 0xFF, 0xFF, 1], [0xFF, 0xFF, 0xFF, 0xFF, 3], [0x80, 0, 0, 0, 200],
        [0, 0, 0, 0, 1], [0, 1, 0, 0, 1], [0, 0, 0, 50, 1, 0xA2, 0x00],
        [0, 0, 0, 10, 1, 0x9B, 0, 0, 0, 0, 0x40, 0, 0, 0],
        [0, 0, 0, 10, 3, 0x9B, 0, 0, 0, 0, 0x40, 0, 0, 0],
        [0, 0, 0, 2, 2, 0xA0], [0, 0, 0, 2, 11, 0xA0], [0, 0, 0, 2, 200, 0xA0],
        [0, 0, 0, 4, 1, 0xA1, 0x00, 0x00],  // a member's proof
    ]

    @Test func `nothing that strangers send disturbs anybody`() async throws {
        var random = SeededGenerator(seed: 71)
        let photo = SampleFiles.photo(2_000_000, using: &random)
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop, pair.pi) { agents in
                let before = try await settledDescriptors(agents[0], pair)
                var garbage: [Int32] = []
                defer { for descriptor in garbage { close(descriptor) } }
                for bytes in Self.garbage {
                    let stranger = try StrangerSocket(to: pair.port)
                    _ = stranger.send(bytes)
                    garbage.append(stranger.release())
                }
                try await WithoutCertificate.connect(1, to: pair.port, as: pair.pi)
                var peers: [RawPeer] = []
                for bytes in Self.frames {
                    let peer = try await RawPeer(at: "\(pair.port.address)")
                    try await peer.write(bytes)
                    peers.append(peer)
                }
                // While all of them are still connected, or believe that they are.
                try pair.laptop.drop(photo, as: "photo.jpg")
                try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/photo.jpg": .init(photo)]))
                try await pair.laptop.awaitReceipts(1)
                #expect(try await pair.laptop.status().peers.map(\.name) == ["pi"])
                #expect(try agents[0].peakMemory() < Self.memoryLimit)
                // Those who sent half a frame are hung up on too, and nothing stays of any.
                for peer in peers { try await peer.awaitEnd() }
                // Files that are being served stay open for a while; a stranger takes three.
                try await eventually("about as few descriptors as before") {
                    "\(try agents[0].descriptorCount()), and \(before) before"
                } holds: {
                    try agents[0].descriptorCount() <= before + 6
                }
            }
        }
    }

    private func settledDescriptors(_ agent: AgentProcess, _ pair: AgentPair) async throws -> Int {
        try await eventually("a connection") {
            try await pair.laptop.status().peers.contains { $0.connected }
        }
        // Both dial each other: for a moment there are two connections.
        var count = 0
        try await eventually("a steady number of descriptors") {
            let before = try agent.descriptorCount()
            try await Task.sleep(for: .milliseconds(300))
            count = try agent.descriptorCount()
            return count == before
        }
        return count
    }

    @Test func `who only holds connections open keeps no member out`() async throws {
        var random = SeededGenerator(seed: 72)
        let photo = SampleFiles.photo(60_000, using: &random)
        try await withAgentFolder { folder in
            let ports = try FreePort.pair()
            let key = folder.appending("space.key")
            let laptop = try AgentHome("laptop", in: folder)
            try await laptop.setUp("--listen", ports.0.address, "--shared-key", key)
            let pi = try AgentHome("pi", in: folder)
            // Nobody else dials for it.
            try await pi.setUp(
                "--listen", "", "--connect", ports.0.address, "--shared-key", key)
            try await withAgents(laptop) { agents in
                try await StrangerSocket.awaitPort(ports.0)
                // Silent, more than are let in before they prove anything, and never giving up.
                let crowd = Crowd(of: 100, to: ports.0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await crowd.press() }
                    try await eventually("many were hung up on") { crowd.turnedAway > 300 }
                    #expect(try agents[0].descriptorCount() < 250)
                    try await withAgents(pi) { _ in
                        try laptop.drop(photo, as: "photo.jpg")
                        try await pi.awaitOutbox(
                            FolderTree(files: ["laptop/photo.jpg": .init(photo)]))
                        try await laptop.awaitReceipts(1)
                    }
                    group.cancelAll()
                }
                #expect(try agents[0].peakMemory() < Self.memoryLimit)
            }
        }
    }

    @Test func `who sends a byte now and then is hung up on, and others come through`()
        async throws
    {
        var random = SeededGenerator(seed: 73)
        let photo = SampleFiles.photo(60_000, using: &random)
        try await AgentPair.running { pair in
            try await StrangerSocket.awaitPort(pair.port)
            let slow = try StrangerSocket(to: pair.port)
            // The head of a record of 512 bytes, and of a hello in it.
            _ = slow.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3])
            var isDropped = false
            try await eventually(within: .seconds(40), "the slow one is hung up on") {
                if !isDropped {
                    try pair.laptop.drop(photo, as: "photo.jpg")
                    isDropped = true
                }
                try await Task.sleep(for: .milliseconds(100))
                return !slow.send([0]) || slow.isClosed()
            }
            try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/photo.jpg": .init(photo)]))
            try await pair.laptop.awaitReceipts(1)
        }
    }
}

/// Many strangers of one address, of whom each comes back when it is hung up on.
private final class Crowd: Sendable {
    private let count: Int
    private let port: FreePort
    private let hungUp = Atomic<Int>(0)

    init(of count: Int, to port: FreePort) {
        self.count = count
        self.port = port
    }

    /// How many connections were ended by the agent.
    var turnedAway: Int { hungUp.load(ordering: .relaxed) }

    /// Connects until cancelled.
    func press() async throws {
        var descriptors: [Int32] = []
        defer { for raw in descriptors { close(raw) } }
        while !Task.isCancelled {
            while descriptors.count < count {
                descriptors.append(try StrangerSocket(to: port).release())
            }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
            let gone = descriptors.filter { !isOpen($0) }
            for raw in gone { close(raw) }
            descriptors.removeAll { gone.contains($0) }
            hungUp.add(gone.count, ordering: .relaxed)
        }
    }

    private func isOpen(_ raw: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(raw, &byte, 1, Int32(MSG_DONTWAIT))
        return count < 0 && errno == EAGAIN
    }
}
