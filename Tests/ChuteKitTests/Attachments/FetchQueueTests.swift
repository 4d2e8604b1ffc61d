import TestSupport
import Testing

@testable import ChuteKit

struct FetchQueueTests {
    private func id(_ byte: UInt8) throws -> AttachmentID {
        try #require(AttachmentID(digest: Digest(hashing: [byte]), byteCount: 1))
    }

    private func drain(_ queue: inout FetchQueue) -> [AttachmentID] {
        var all: [AttachmentID] = []
        while let next = queue.first() {
            all.append(next)
            queue.removeFirst()
        }
        return all
    }

    @Test func `a higher priority overtakes, each waits once, and is moved ahead but not back`()
        throws
    {
        let ids = try (0..<6).map { try id($0) }
        var queue = FetchQueue()
        queue.add(ids[0], .low)
        queue.add(ids[1], .normal)
        queue.add(ids[2], .normal)
        queue.add(ids[3], .high)
        queue.add(ids[2], .high)
        queue.add(ids[2], .low)
        queue.add(ids[1], .normal)
        #expect(drain(&queue) == [ids[3], ids[2], ids[1], ids[0]])
        queue.add(ids[2], .low)
        #expect(drain(&queue) == [ids[2]])
    }

    @Test func `what is asked for with a higher priority goes before all that waits`() throws {
        let ids = try (0..<10).map { try id($0) }
        let peer = DeviceID(publicKey: [1])
        var planner = FetchPlanner(limits: .init(requestsPerPeer: 2, bytesPerPeer: 1 << 20))
        var asked = planner.connected(peer)
        for id in ids[..<8] {
            asked += planner.add(id, pieces: 0..<1, needsLayer: false, source: nil)
        }
        asked += planner.add(
            ids[8], pieces: 0..<1, needsLayer: false, source: nil, priority: .high)
        planner.setPriority(.high, of: ids[7])
        #expect(asked.map(\.attachment) == [ids[0], ids[1]])
        var next = planner.finished(0, of: ids[0], from: peer)
        next += planner.finished(0, of: ids[1], from: peer)
        #expect(next.map(\.attachment).prefix(2) == [ids[8], ids[7]])
    }
}
