import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Taking less than everything.
@Suite(.timeLimit(.minutes(2)))
struct SubscriptionTests {
    private static let people = SharedStore.collection

    private func open(_ parts: [(String, Predicate)]) -> Subscription {
        Subscription(parts: parts.map { .init(collection: $0.0, predicate: $0.1) })
    }

    @Test func `a subscription reads as it was written`() throws {
        let some = open([("a", .all), ("b", field("n") > 3 && field("t").hasPrefix("x"))])
        #expect(try Subscription(encoded: some.encoded()) == some)
        #expect(try Subscription(encoded: Subscription.everything.encoded()) == .everything)
        #expect(throws: WireError.self) { try Subscription(encoded: [0x83]) }
        #expect(throws: WireError.self) {
            try Subscription(encoded: [UInt8](repeating: 0, count: Subscription.sizeLimit + 1))
        }
        let long = (0..<1000).map { Value.string("\($0)" + String(repeating: "x", count: 60)) }
        #expect(throws: ChuteError.self) { try open([("a", field("n").isIn(long))]).encoded() }
    }

    @Test func `only the collections that are asked for come, and who belongs to the space`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let wanted = try await one.write { try $0.insert(["a": 1], in: Self.people) }
            let other = try await one.write { try $0.insert(["a": 1], in: "other") }
            try await two.pull(from: one, open([(Self.people, .all)]))
            #expect(try await two.find(wanted) != nil)
            #expect(try await two.store.read { try $0.find(other, in: "other") } == nil)
            #expect(try await two.store.read { try $0.members().count } == 2)
            try await two.pull(from: one)
            #expect(try await two.store.read { try $0.find(other, in: "other") } != nil)
        }
    }

    @Test func `a document that comes to match comes whole, one that stops matching says so`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let open = open([(Self.people, field("state") == "open")])
            let id = try await one.write {
                try $0.insert(["state": "new", "a": 1], in: Self.people)
            }
            try await one.write { try $0.update(id, in: Self.people) { $0["b"].set(2) } }
            try await two.pull(from: one, open)
            #expect(try await two.find(id) == nil)
            try await one.write { try $0.update(id, in: Self.people) { $0["state"].set("open") } }
            try await two.pull(from: one, open)
            #expect(try await two.find(id)?.fields == ["state": "open", "a": 1, "b": 2])
            try await one.write { try $0.update(id, in: Self.people) { $0["state"].set("done") } }
            try await one.write { try $0.update(id, in: Self.people) { $0["b"].set(3) } }
            try await two.pull(from: one, open)
            #expect(try await two.find(id)?.fields == ["state": "done", "a": 1, "b": 2])
            try await one.write { _ = try $0.remove(id, in: Self.people) }
            try await two.pull(from: one, open)
            #expect(try await two.find(id) == nil)
        }
    }

    @Test func `what its writer put away was not told to who subscribed to a condition`()
        async throws
    {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let id = try await one.write { try $0.insert(["state": "open"], in: Self.people) }
            try await one.write { _ = try $0.evict(id, in: Self.people) }
            try await two.pull(from: one, open([(Self.people, field("state") == "open")]))
            #expect(try await two.find(id)?.fields == ["state": "open"])
        }
    }

    @Test func `documents of one writer are filtered by what they say`() async throws {
        try await withSharedStores(2) { stores in
            let (one, two) = (stores[0], stores[1])
            let open = open([(Self.people, field("n") > 3)])
            let seeds = (0..<6).map { Digest(hashing: [UInt8($0)]) }
            try await one.write { transaction in
                for (number, seed) in seeds.enumerated() {
                    try transaction.put(
                        seed: seed, in: Self.people, fields: ["n": .integer(Int64(number))])
                }
            }
            try await two.pull(from: one, open)
            #expect(try await two.all().count == 2)
        }
    }

    @Test func `what a device subscribes to is kept, and its peers hear of it`() async throws {
        try await withTwoEngines { one, two in
            let (theirs, mine) = (one.chute.store, two.chute.store)
            try await two.chute.subscribe(to: [mine["people"].find(field("n") > 3)])
            let low = try await theirs["people"].insert(["n": 1])
            let high = try await theirs["people"].insert(["n": 5])
            let other = try await theirs["other"].insert(["n": 5])
            try await eventually("what was subscribed to came") {
                try await mine["people"].findByID(high).exec() != nil
            }
            #expect(try await mine["people"].findByID(low).exec() == nil)
            #expect(try await mine["other"].findByID(other).exec() == nil)
            #expect(await mine.writer.subscription != .everything)

            try await two.chute.subscribeToEverything()
            try await eventually("the rest came") {
                guard try await mine["people"].findByID(low).exec() != nil else { return false }
                return try await mine["other"].findByID(other).exec() != nil
            }
            // What is written here goes out, whatever this device wants itself.
            try await two.chute.subscribe(to: [mine["nothing"].findAll()])
            let own = try await mine["other"].insert(["n": 9])
            try await eventually("what was written here is there") {
                try await theirs["other"].findByID(own).exec() != nil
            }
        }
    }

    @Test func `a query that is no subscription is refused`() async throws {
        try await withTwoEngines { one, _ in
            let people = one.chute.store["people"]
            for query in [people.findAll().limit(3), one.chute.store["_devices"].findAll()] {
                let error = await #expect(throws: ChuteError.self) {
                    try await one.chute.subscribe(to: [query])
                }
                #expect(error?.code == .invalid)
            }
            #expect(await one.chute.store.writer.subscription == .everything)
        }
    }
}
