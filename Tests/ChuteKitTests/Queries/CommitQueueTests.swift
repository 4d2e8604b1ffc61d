import Testing

@testable import ChuteKit

@Suite struct CommitQueueTests {
    private static func commit(
        _ number: UInt64, _ id: UInt8, _ old: [UInt8]?, _ new: [UInt8]?
    ) -> DocumentFeed.Commit {
        let change = DocumentChange(
            id: DocumentID(text: [id]), origin: nil, old: old, new: new)
        return DocumentFeed.Commit(number: number, changes: [change])
    }

    @Test func `commits beyond the limit are one, from what was before the first of them`()
        async throws
    {
        let queue = CommitQueue(limit: 2)
        queue.post(Self.commit(1, 1, nil, [1]))
        queue.post(Self.commit(2, 1, [1], [2]))
        queue.post(Self.commit(3, 1, [2], [3]))
        queue.post(Self.commit(4, 2, nil, [9]))
        queue.post(Self.commit(5, 2, [9], nil))
        let first = await queue.next()
        #expect(first?.number == 1 && first?.changes?.map(\.new) == [[1]])
        let second = try #require(await queue.next())
        #expect(second.number == 5)
        let changes = try #require(second.changes).sorted { $0.id < $1.id }
        #expect(changes.map(\.old) == [[1], nil])
        #expect(changes.map(\.new) == [[3], nil])
    }

    @Test func `what waits is bounded in bytes, whatever is changed`() async throws {
        let queue = CommitQueue(limit: 1)
        let large = [UInt8](repeating: 1, count: 1 << 20)
        for number in 1...20 { queue.post(Self.commit(UInt64(number), UInt8(number), nil, large)) }
        let commit = try #require(await queue.next())
        #expect(commit.number == 20 && commit.changes == nil)
    }

    @Test func `all that waits together is bounded in bytes, not each commit alone`() async throws {
        let queue = CommitQueue(limit: 256)
        let large = [UInt8](repeating: 1, count: 1 << 20)
        for number in 1...100 { queue.post(Self.commit(UInt64(number), UInt8(number), nil, large)) }
        var kept = 0
        var last: UInt64 = 0
        while last < 100, let commit = await queue.next() {
            last = commit.number
            kept += (commit.changes ?? []).reduce(0) { $0 + ($1.new?.count ?? 0) }
        }
        #expect(last == 100 && kept <= 16 << 20)
    }

    @Test func `a reader that waits gets what comes, or nothing once it is cancelled`() async throws
    {
        let queue = CommitQueue(limit: 1)
        let reader = Task { await queue.next()?.number }
        queue.post(Self.commit(1, 1, nil, [1]))
        #expect(await reader.value == 1)
        let waiting = Task { await queue.next()?.number }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    @Test func `commits that are told as one say where they begin`() async throws {
        let queue = CommitQueue(limit: 1)
        for number in 4...6 { queue.post(Self.commit(UInt64(number), 1, nil, [1])) }
        let commit = try #require(await queue.next())
        #expect(commit.first == 4 && commit.number == 6)
    }
}
