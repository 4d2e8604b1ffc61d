import ChuteKit

/// What an application does with an engine.
struct EngineMeasurement {
    let folder: String
    let count: Int

    func run() async throws {
        let chute = try await Chute.open(
            identity: .paired, persistenceDirectory: BytePath(folder), network: .offline)
        let people = chute.store["people"]
        var ids: [DocumentID] = []
        let before = processorTime()
        let took = try await timed {
            for start in stride(from: 0, to: count, by: batchSize) {
                let made = try await chute.store.write { transaction in
                    try (start..<min(start + batchSize, count)).map { number in
                        try transaction.insert(
                            ["n": .integer(Int64(number)), "name": "Ada"], in: "people")
                    }
                }
                if start.isMultiple(of: 10 * batchSize) { ids += made }
            }
        }
        report("inserts in batches of \(batchSize)", Double(count) / seconds(took), "/s")
        report(
            "an insert, processor", (processorTime() - before) / Double(count) * 1e6, "microseconds"
        )

        let known = ids
        let looked = try await timed {
            let found = try await chute.store.read { snapshot in
                var found = 0
                for number in 0..<lookupCount {
                    let id = known[number &* 7919 % known.count]
                    if try snapshot.find(id, in: "people") != nil { found += 1 }
                }
                return found
            }
            guard found == lookupCount else { throw PlainStore.Failure(message: "not all there") }
        }
        report("lookup in one read", seconds(looked) / Double(lookupCount) * 1e6, "microseconds")
        let single = try await timed {
            for number in 0..<(lookupCount / 10) {
                _ = try await people.findByID(known[number &* 7919 % known.count]).exec()
            }
        }
        report("lookup by itself", seconds(single) / Double(lookupCount / 10) * 1e6, "microseconds")
        report("peak memory", peakMemory(), "MB")
        try await QueryMeasurement(chute: chute, count: count).run()
    }
}
