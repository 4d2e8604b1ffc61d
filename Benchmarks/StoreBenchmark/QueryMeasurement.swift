import ChuteKit
import Synchronization

/// Queries and observers on the documents that were inserted.
struct QueryMeasurement {
    let chute: Chute
    let count: Int
    private static let rounds = 50

    func run() async throws {
        let people = chute.store["people"]
        try await people.declareIndex(on: "n")
        let took = try await timed {
            while try await !people.indexes().allSatisfy(\.isComplete) {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        report("indexing what is there", Double(count) / seconds(took), "/s")

        let number = Int64(count / 3)
        try await measure("equality, one hit", people.find(field("n") == .integer(number)), 1)
        let above = people.find(field("n") >= .integer(number))
        try await measure("range, sorted, limit 50", above.sort(by: "n").limit(50), 50)
        try await measure(
            "range, sorted downwards, limit 50", above.sort(by: "n", .descending).limit(50), 50)
        report("peak memory", peakMemory(), "MB")
        try await observe()
    }

    private func measure(_ name: String, _ query: Query, _ expected: Int) async throws {
        var times: [Double] = []
        for _ in 0..<Self.rounds {
            var found = 0
            times.append(seconds(try await timed { found = try await query.exec().count }) * 1e3)
            guard found == expected else { throw PlainStore.Failure(message: "found \(found)") }
        }
        report(name, median(times), "ms, middle one")
        report(name, times.max() ?? 0, "ms, longest")
    }

    /// From the return of the commit to the callback, and the memory that a result takes.
    private func observe() async throws {
        let store = chute.store
        let observed = 100_000
        let ids = try await store.write(durable: .withNext) { transaction in
            try (0..<observed).map {
                try transaction.insert(
                    ["n": .integer(Int64($0)), "name": "Ada"], in: "observed")
            }
        }
        let (stream, continuation) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        let before = currentMemory()
        let live = store["observed"].findAll().sort(by: "n").observe { _, _ in
            continuation.yield(.now)
        }
        var events = stream.makeAsyncIterator()
        let began = ContinuousClock.now
        _ = await events.next()
        report("observer's beginning", seconds(.now - began) * 1e3, "ms")
        report("memory of \(observed) observed documents", currentMemory() - before, "MB")
        var times: [Double] = []
        for round in 0..<Self.rounds {
            let id = ids[round &* 7919 % ids.count]
            try await store.write(durable: .withNext) {
                try $0.update(id, in: "observed") { $0["n"].set(.integer(Int64(observed + round))) }
            }
            let committed = ContinuousClock.now
            if let told = await events.next() { times.append(seconds(told - committed) * 1e3) }
        }
        report("told of one change", median(times), "ms after the commit, middle one")
        report("told of one change", times.max() ?? 0, "ms after the commit, longest")
        live.cancel()
    }
}
