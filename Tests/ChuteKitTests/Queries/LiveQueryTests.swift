import ChuteSystem
@preconcurrency import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(2))) struct LiveQueryTests {
    static let people = SharedStore.collection

    /// What an observer was told, and the list that its updates make.
    final class Told: Sendable {
        struct State {
            var lists: [[[UInt8]]] = []
            var events: [String] = []
            var problems: [String] = []
            var failure: ChuteError?
        }
        let state = Mutex(State())
        var last: [[UInt8]]? { state.withLock { $0.lists.last } }
        var events: [String] { state.withLock { $0.events } }
        var problems: [String] { state.withLock { $0.problems } }

        func take(_ documents: Documents, _ event: LiveQueryEvent) {
            let lines = documents.map { $0.id.bytes + $0.fields.cbor.encoded() }
            state.withLock { state in
                switch event {
                case .initial:
                    state.events.append("initial")
                    if !state.lists.isEmpty { state.problems.append("a second beginning") }
                case .failed(let error):
                    state.events.append("failed")
                    state.failure = error
                    return
                case .update(let update):
                    state.events.append("update")
                    let old = update.oldDocuments.map { $0.id.bytes + $0.fields.cbor.encoded() }
                    if old != state.lists.last { state.problems.append("another list before") }
                    if Self.apply(update, to: old, lines) != lines {
                        state.problems.append("the update does not lead there")
                    }
                    if old == lines { state.problems.append("told of nothing") }
                }
                state.lists.append(lines)
            }
        }

        private static func apply(
            _ update: LiveQueryUpdate, to old: [[UInt8]], _ new: [[UInt8]]
        ) -> [[UInt8]] {
            let gone = Set(update.deletions + update.moves.map(\.from))
            var lines = old.indices.filter { !gone.contains($0) }.map { old[$0] }
            for index in (update.insertions + update.moves.map(\.to)).sorted() {
                guard index <= lines.count, index < new.count else { return [] }
                lines.insert(new[index], at: index)
            }
            for index in update.updates where index < lines.count { lines[index] = new[index] }
            return lines
        }
    }

    private static func lines(_ documents: [Document]) -> [[UInt8]] {
        documents.map { $0.id.bytes + $0.fields.cbor.encoded() }
    }

    /// The reader took its time with the first result: of what waited as one, a part was in it.
    @Test func `what is in the first result already is not put in, or left in, a second time`()
        async throws
    {
        try await withSharedStores(1) { stores in
            let store = stores[0]
            let source = LiveQuerySource(store.store[Self.people].findAll(), limit: 1)
            let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let reader = try store.reader.forQueries()
            let blocking = Task {
                try await reader.read { _ in
                    started.signal()
                    gate.wait()
                }
            }
            started.wait()
            let first = Task { try await source.next()?.documents.map(\.id.description) }
            try await eventually("it follows") {
                await store.writer.feed.collections == [Self.people]
            }
            for name in ["gone", "kept"] {
                try await store.write { _ = try $0.insert(["_id": .string(name)], in: Self.people) }
            }
            gate.signal()
            try await blocking.value
            #expect(try await first.value == ["gone", "kept"])
            let gone = try #require(DocumentID("gone"))
            try await store.write { _ = try $0.remove(gone, in: Self.people) }
            try await store.write { _ = try $0.insert(["_id": "new"], in: Self.people) }
            #expect(try await source.next()?.documents.map(\.id.description) == ["kept", "new"])
        }
    }

    @Test func `an observer is told of the beginning and then once of each commit that changes it`()
        async throws
    {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            let id = try await store.write { try $0.insert(["a": 1], in: Self.people) }
            let told = Told()
            let query = store[Self.people].find(field("a") < 10).sort(by: "a")
            let live = query.observe { told.take($0, $1) }
            try await eventually { told.events == ["initial"] }
            try await store.write { transaction in
                for number in 2..<6 {
                    try transaction.insert(["a": .integer(Int64(number))], in: Self.people)
                }
            }
            // Nothing that this observer sees.
            try await store.write { _ = try $0.insert(["a": 20], in: Self.people) }
            try await store.write { _ = try $0.insert(["a": 1], in: "others") }
            try await store.write { try $0.update(id, in: Self.people) { $0["a"].set(1) } }
            try await store.write { try $0.update(id, in: Self.people) { $0["a"].set(4) } }
            try await store.write { _ = try $0.evict(id, in: Self.people) }
            try await eventually { told.events.count == 4 }
            let expected = Self.lines(try await query.exec())
            #expect(told.last == expected)
            #expect(told.problems == [])
            #expect(told.state.withLock { $0.lists.map(\.count) } == [1, 5, 5, 4])
            live.cancel()
        }
    }

    @Test func `an observer that is cancelled or dropped is told nothing, and follows nothing`()
        async throws
    {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            let told = Told()
            let dropped = Told()
            let kept = Told()
            let query = store[Self.people].findAll()
            let live = query.observe { told.take($0, $1) }
            var other: LiveQuery? = query.observe { dropped.take($0, $1) }
            let last = query.observe { kept.take($0, $1) }
            try await eventually {
                [told, dropped, kept].allSatisfy { $0.events == ["initial"] }
            }
            live.cancel()
            live.cancel()
            #expect(other != nil)
            other = nil
            try await store.write { _ = try $0.insert([:], in: Self.people) }
            try await eventually { kept.events.count == 2 }
            last.cancel()
            // The writer reads no documents for observers that are gone.
            try await eventually { await store.writer.followedCollections.isEmpty }
            #expect(told.events == ["initial"] && dropped.events == ["initial"])
        }
    }

    @Test func `a callback may write, cancel itself and take its time, and nobody waits for it`()
        async throws
    {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            let told = Told()
            let gate = DispatchSemaphore(value: 0)
            let holder = Mutex<LiveQuery?>(nil)
            let query = store[Self.people].findAll()
            let live = query.observe { documents, event in
                told.take(documents, event)
                if told.events.count == 1 {
                    // Blocks until what it writes itself is committed.
                    let done = DispatchSemaphore(value: 0)
                    Task {
                        _ = try await store.write {
                            _ = try $0.insert(["own": true], in: Self.people)
                        }
                        done.signal()
                    }
                    done.wait()
                    gate.wait()
                } else if documents.count > 400 {
                    holder.withLock { $0 }?.cancel()
                }
            }
            holder.withLock { $0 = live }
            try await eventually { told.events == ["initial"] }
            // Far more commits than are kept: none waits for the callback.
            for number in 0..<400 {
                try await store.write(durable: .withNext) {
                    _ = try $0.insert(["n": .integer(Int64(number))], in: Self.people)
                }
            }
            gate.signal()
            try await eventually { told.last?.count == 401 }
            #expect(told.events.count <= LiveQuery.waitingLimit + 2)
            #expect(told.events.count > 200, "commits were put together that need not be")
            #expect(told.problems == [])
            let expected = Self.lines(try await query.exec())
            #expect(told.last == expected)
            try await eventually { await store.writer.followedCollections.isEmpty }
            holder.withLock { $0 = nil }
        }
    }

    @Test func `a commit of more than is kept for observers is told as one change`() async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            let told = Told()
            let query = store[Self.people].find(field("n") == 1)
            let live = query.observe { told.take($0, $1) }
            try await eventually { told.events == ["initial"] }
            let large = Value.bytes([UInt8](repeating: 1, count: 1 << 20))
            try await store.write(durable: .withNext) { transaction in
                for number in 0..<20 {
                    try transaction.insert(
                        ["n": .integer(Int64(number % 2)), "b": large], in: Self.people)
                }
                #expect(transaction.resets == [Self.people] && transaction.changed.isEmpty)
            }
            try await eventually { told.events == ["initial", "update"] }
            #expect(told.problems == [] && told.last?.count == 10)
            live.cancel()
        }
    }

    @Test func `callbacks come on the queue that was asked for`() async throws {
        try await withSharedStores(1) { stores in
            let queue = DispatchQueue(label: "test")
            let told = Told()
            let live = stores[0].store[Self.people].findAll().observe(deliverOn: queue) {
                dispatchPrecondition(condition: .onQueue(queue))
                told.take($0, $1)
            }
            try await eventually { told.events == ["initial"] }
            live.cancel()
        }
    }

    @Test func `what cannot be observed says so once`() async throws {
        try await withSharedStores(1) { stores in
            let told = Told()
            let query = stores[0].store["_own"].findAll()
            let live = query.observe { told.take($0, $1) }
            try await eventually { told.events == ["failed"] }
            #expect(told.state.withLock { $0.failure?.code } == .invalid)
            await #expect(throws: ChuteError.self) { for try await _ in query.snapshots() {} }
            live.cancel()
        }
    }

    @Test func `a slow reader of snapshots is told of many commits at once`() async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0].store
            let query = store[Self.people].findAll()
            let reader = Task {
                let told = Told()
                for try await (documents, event) in query.snapshots() {
                    told.take(documents, event)
                    if documents.isEmpty {
                        for number in 0..<50 {
                            try await store.write(durable: .withNext) {
                                _ = try $0.insert(["n": .integer(Int64(number))], in: Self.people)
                            }
                        }
                    }
                    if documents.count == 50 { break }
                }
                return (told.events.count, told.problems)
            }
            let (count, problems) = try await reader.value
            #expect(count == 2 && problems == [])
            try await eventually { await store.writer.followedCollections.isEmpty }
            // A reader that waits ends with its task.
            let waiting = Task { for try await _ in query.snapshots() {} }
            try await eventually { await !store.writer.followedCollections.isEmpty }
            waiting.cancel()
            try await waiting.value
        }
    }

    @Test(arguments: 0..<6)
    func `two devices that write at once are seen as they are in the end`(seed: UInt64) async throws
    {
        try await withSharedStores(2) { stores in
            for store in stores {
                for other in stores { try await store.pull(from: other) }
            }
            var source = RandomDocuments(seed: seed)
            let queries = (0..<4).flatMap { _ in
                stores.map { source.query($0.store, Self.people) }
            }
            let told = queries.map { _ in Told() }
            let live = zip(queries, told).map { query, told in
                query.observe { told.take($0, $1) }
            }
            let seeds = stores.map { _ in source.random.next() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (store, seed) in zip(stores, seeds) {
                    let other = stores.first { $0.device != store.device } ?? store
                    group.addTask {
                        var source = RandomDocuments(seed: seed)
                        for round in 0..<25 {
                            try await store.change(&source)
                            if round % 3 == 0 { try await store.pull(from: other) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for _ in 0..<2 {
                for store in stores {
                    for other in stores { try await store.pull(from: other) }
                }
            }
            for (query, told) in zip(queries, told) {
                let expected = Self.lines(try await query.exec())
                try await eventually(within: .seconds(10), "\(query)") { told.last == expected }
                #expect(told.problems == [])
            }
            for live in live { live.cancel() }
        }
    }
}

extension SharedStore {
    /// One commit of some writes.
    fileprivate func change(_ source: inout RandomDocuments) async throws {
        var writes: [(DocumentID, Fields, Int)] = []
        for _ in 0..<source.pick([1, 1, 3]) {
            writes.append((source.id(), source.fields(), source.number(0...6)))
        }
        let all = writes
        try await write { transaction in
            for (id, fields, kind) in all {
                switch kind {
                case 0: _ = try transaction.remove(id, in: Self.collection)
                case 1: _ = try transaction.evict(id, in: Self.collection)
                default: _ = try transaction.upsert(fields, as: id, in: Self.collection)
                }
            }
        }
    }
}

extension StoreWriter {
    /// The collections that somebody follows.
    var followedCollections: Set<String> { feed.collections }
}
