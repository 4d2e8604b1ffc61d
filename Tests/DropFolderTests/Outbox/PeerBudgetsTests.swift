import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What all files of one device may take: `max_total` of `[[peer]]`.
@Suite(.timeLimit(.minutes(1)))
struct PeerBudgetsTests {
    private let one = DeviceID(publicKey: [1])
    private let two = DeviceID(publicKey: [2])

    @Test func `a device gets no more than its limit, and others as much as they like`() {
        var budgets = PeerBudgets(limits: [one: 10], held: [one: 4])
        func change(_ device: DeviceID, from old: UInt64, to new: UInt64) -> Bool {
            budgets.change(device, from: old, to: new)
        }
        #expect(budgets.fits(6, of: one) && !budgets.fits(7, of: one))
        #expect(budgets.fits(.max, of: two))
        #expect(!change(one, from: 0, to: 7))
        #expect(change(one, from: 0, to: 6))
        #expect(!change(one, from: 0, to: 1))
        #expect(change(two, from: 0, to: .max))
    }

    @Test func `a later version counts in the place of the earlier one`() {
        var budgets = PeerBudgets(limits: [one: 10], held: [one: 8])
        func change(_ device: DeviceID, from old: UInt64, to new: UInt64) -> Bool {
            budgets.change(device, from: old, to: new)
        }
        #expect(change(one, from: 8, to: 10))
        #expect(!change(one, from: 10, to: 11))
        #expect(change(one, from: 10, to: 0))
        #expect(change(one, from: 0, to: 10))
    }

    @Test func `what is over a lowered limit has to go before anything comes`() {
        var budgets = PeerBudgets(limits: [one: 10], held: [one: 30])
        func change(_ device: DeviceID, from old: UInt64, to new: UInt64) -> Bool {
            budgets.change(device, from: old, to: new)
        }
        #expect(change(one, from: 15, to: 0))
        #expect(!change(one, from: 0, to: 1))
        // One that does not grow is no worse than before.
        #expect(change(one, from: 15, to: 15))
        #expect(change(one, from: 15, to: 0))
        #expect(change(one, from: 0, to: 10))
    }

    private func limited(
        _ count: UInt64, _ body: (WriterBench, [PeerSettings]) async throws -> Void
    ) async throws {
        try await WriterBench.with { bench in
            var peer = PeerSettings(id: bench.peer)
            peer.maxTotal = count
            try await body(bench, [peer])
        }
    }

    @Test func `files of a device beyond its max_total wait, and come when there is room`()
        async throws
    {
        try await limited(10) { bench, peers in
            try await bench.withWriter(peers: peers) { writer in
                let first = try await bench.share("a.txt", "6bytes")
                try await bench.awaitWant(of: first)
                let second = try await bench.share("b.txt", "6 more")
                try await bench.awaitState(.waiting, of: second)
                let record = try #require(try await bench.delivery(of: second))
                #expect(record.reason == "over-quota")
                #expect(record.detail.contains("max_total of [[peer]]"))
                // A smaller one still fits.
                let third = try await bench.share("c.txt", "four")
                try await bench.awaitWant(of: third)
                _ = try await bench.retract(first)
                try await eventually("the second one comes") {
                    writer.events.post(.tick)
                    return try await bench.delivery(of: second)?.state == .fetching
                }
            }
        }
    }

    @Test func `what was delivered counts after a start, until the user takes it away`()
        async throws
    {
        try await limited(10) { bench, peers in
            _ = try await bench.deliver("a.txt", "6bytes")
            try await bench.withWriter(peers: peers) { writer in
                let second = try await bench.share("b.txt", "6 more")
                try await bench.awaitState(.waiting, of: second)
                #expect(try await bench.delivery(of: second)?.reason == "over-quota")
                try Folder(at: bench.outbox).remove("a.txt")
                try await eventually("the second one comes") {
                    writer.events.post(.check)
                    writer.events.post(.tick)
                    return try await bench.delivery(of: second)?.state == .fetching
                }
            }
            // Without the rule anything may come.
            try await bench.withWriter { _ in
                let third = try await bench.share("c.txt", "another six and more")
                try await bench.awaitWant(of: third)
            }
        }
    }
}
