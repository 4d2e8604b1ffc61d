import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Starting and stopping replication, and ending an engine.
@Suite(.timeLimit(.minutes(2)))
struct SyncTests {
    private func open(
        _ directory: BytePath, connect: [String] = [], diagnostics: Diagnostics = .none
    ) async throws -> Chute {
        return try await Chute.open(
            identity: .sharedKey(.test()), persistenceDirectory: directory,
            network: .init(listen: "127.0.0.1:0", connect: connect),
            diagnostics: diagnostics)
    }

    private func withEngine(
        diagnostics: Diagnostics = .none, _ body: (Chute, BytePath) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let chute = try await open(folder.appending("a"), diagnostics: diagnostics)
            try await body(chute, folder)
            try await chute.close()
        }
    }

    private func put(_ number: Int, in chute: Chute) async throws {
        _ = try await chute.store.write {
            try $0.put(
                seed: Digest(hashing: [UInt8(number)]), in: "things",
                fields: ["n": .integer(Int64(number))])
        }
    }

    private func count(in chute: Chute) async throws -> Int {
        try await chute.store.read {
            try $0.documents(in: "things", learnedAfter: 0, limit: .max).count
        }
    }

    @Test func `a start returns when it listens, a stop when nothing is left`() async throws {
        try await withEngine { chute, _ in
            #expect(!chute.isSyncActive)
            try await chute.startSync()
            #expect(chute.isSyncActive)
            guard case .running(let address?)? = await chute.transportStates["tcp"] else {
                throw NeverHappened(what: "listening")
            }
            await chute.stopSync()
            #expect(!chute.isSyncActive)
            #expect(await chute.transportStates.isEmpty)
            #expect(await chute.dialledAddresses.isEmpty)
            let target = try #require(SocketAddress(address))
            await #expect(throws: SystemError.self) { _ = try await Socket.connect(to: target) }
        }
    }

    @Test func `transports that are exchanged while it stops and starts are the last ones`()
        async throws
    {
        try await withEngine { chute, _ in
            func transport(_ path: String) -> WebSocketTransport {
                WebSocketTransport(listen: "127.0.0.1:0", path: path)
            }
            for round in 0..<20 {
                try await chute.startSync()
                async let first: Void = chute.use(.init(transports: [transport("/a\(round)")]))
                async let second: Void = chute.use(.init(transports: [transport("/b\(round)")]))
                async let stopped: Void = chute.stopSync()
                _ = try await (first, second, stopped)
            }
            try await chute.use(.init(transports: [transport("/last")]))
            try await chute.startSync()
            try await eventually("the last one runs") {
                guard case .running(let address?)? = await chute.transportStates["websocket"]
                else { return false }
                return address.hasSuffix("/last")
            }
            #expect(await chute.transportStates.count == 1)
        }
    }

    @Test func `a port in use is no reason for a start to wait`() async throws {
        let taken = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        let address = taken.address.description
        try await withTemporaryDirectory { folder in
            let chute = try await Chute.open(
                identity: .sharedKey(.test()), persistenceDirectory: folder.appending("a"),
                network: .init(listen: address, isPortFixed: true, connect: []))
            try await chute.startSync()
            guard case .waiting? = await chute.transportStates["tcp"] else {
                throw NeverHappened(what: "waiting")
            }
            try await chute.close()
        }
        _ = taken.descriptor.raw
    }

    @Test func `two engines find each other again after every stop of either`() async throws {
        try await withEngine { one, folder in
            try await one.startSync()
            guard case .running(let address?)? = await one.transportStates["tcp"] else {
                throw NeverHappened(what: "listening")
            }
            let two = try await Chute.open(
                identity: .sharedKey(.test()), persistenceDirectory: folder.appending("b"),
                network: .init(listen: nil, isPortFixed: true, connect: [address]))
            for round in 1...3 {
                try await two.startSync()
                try await put(round, in: one)
                try await eventually("round \(round)") { try await count(in: two) == round }
                await two.stopSync()
                #expect(await two.sessionCount == 0)
                try await eventually("it heard") { await one.sessionCount == 0 }
            }
            // What was written meanwhile is there, and comes with the next start.
            try await put(4, in: two)
            #expect(try await count(in: two) == 4)
            #expect(try await count(in: one) == 3)
            try await two.startSync()
            try await eventually("the last one") { try await count(in: one) == 4 }
            try await two.close()
        }
    }

    @Test func `what is wanted comes, however often replication stops meanwhile`() async throws {
        try await withTemporaryDirectory { folder in
            let one = try await TestEngine(
                folder.appending("one"), identity: .sharedKey(.test()))
            let two = try await TestEngine(
                folder.appending("two"), identity: .sharedKey(.test()),
                connect: [try await one.address()], isRunning: false)
            var ids: [AttachmentID] = []
            for number in 0..<24 {
                let bytes = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 / 3 &+ number) }
                let document = try await one.share(bytes, as: BytePath("f\(number)"))
                ids.append(try #require(document["token"]?.attachmentToken?.id))
            }
            try await two.chute.startSync()
            try await eventually("the documents") { try await two.documents().count == 24 }
            await two.chute.stopSync()
            for (number, id) in ids.enumerated() {
                try await two.want(id, to: BytePath("w\(number)"))
            }
            let fetching = Task { try await two.awaitFetched(24) }
            for _ in 0..<8 {
                try await two.chute.startSync()
                try await eventually("connected") { await two.chute.sessionCount == 1 }
                await two.chute.stopSync()
            }
            try await two.chute.startSync()
            _ = try await fetching.value
            for number in 0..<24 {
                #expect(try two.read(BytePath("w\(number)")) == one.read(BytePath("f\(number)")))
            }
            try await two.chute.close()
            await two.stop()
            await one.stop()
        }
    }

    @Test func `starts and stops at the same time end as the last one said`() async throws {
        try await withEngine { chute, _ in
            for _ in 0..<5 {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<12 {
                        group.addTask {
                            if number.isMultiple(of: 3) {
                                await chute.stopSync()
                            } else {
                                do { try await chute.startSync() } catch {
                                    Issue.record("start: \(error)")
                                }
                            }
                        }
                    }
                }
            }
            try await chute.startSync()
            #expect(chute.isSyncActive)
            await chute.stopSync()
            #expect(!chute.isSyncActive)
        }
    }

    @Test func `replication by a task and by a start are not one beside the other`() async throws {
        try await withEngine { chute, _ in
            let running = Task { try await chute.run() }
            try await eventually("running") { chute.isSyncActive }
            let error = await #expect(throws: ChuteError.self) { try await chute.startSync() }
            #expect(error?.code == .alreadySyncing)
            running.cancel()
            _ = await running.result
            try await chute.startSync()
            let second = await #expect(throws: ChuteError.self) { try await chute.run() }
            #expect(second?.code == .alreadySyncing)
            await chute.stopSync()
            let third = Task { try await chute.run() }
            try await eventually("running") { chute.isSyncActive }
            await chute.stopSync()
            try await third.value
        }
    }

    @Test func `a cancelled task starts nothing`() async throws {
        try await withEngine { chute, _ in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await chute.startSync()
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(!chute.isSyncActive)
        }
    }

    @Test func `replication that the store ended is said, and starts anew`() async throws {
        let log = TestEngine.LogLines()
        let diagnostics = Diagnostics { _, message in log.add(message) }
        try await withEngine(diagnostics: diagnostics) { chute, folder in
            try await chute.startSync()
            let database = try Connection(path: folder.appending("a").appending("chute.db"))
            try database.execute("ALTER TABLE wants RENAME TO gone")
            chute.store.look(at: .wants)
            try await eventually("it ended") { !chute.isSyncActive }
            try await eventually("it said so") {
                log.all.contains { $0.contains("replication ended") }
            }
            await #expect(throws: (any Error).self) {
                try await chute.startSync()
                // It may have begun before it met the fault.
                try await eventually("it ended") { !chute.isSyncActive }
                throw ChuteError.closed
            }
            try database.execute("ALTER TABLE gone RENAME TO wants")
            try await chute.startSync()
            #expect(chute.isSyncActive)
        }
    }

    @Test func `a closed directory is opened again by the same process`() async throws {
        try await withTemporaryDirectory { folder in
            for round in 1...3 {
                let chute = try await open(folder.appending("a"))
                try await chute.startSync()
                try await put(round, in: chute)
                #expect(try await count(in: chute) == round)
                try await chute.close()
                try await chute.close()
            }
        }
    }

    @Test func `whatever is asked of a closed engine says that it is closed`() async throws {
        try await withTemporaryDirectory { folder in
            let chute = try await open(folder.appending("a"))
            let store = chute.store
            let updates = store.updates(of: .documents)
            let peers = chute.peerUpdates()
            try await chute.close()
            for await _ in updates {}
            for await _ in peers {}
            for await _ in store.updates(of: .members) { Issue.record("an update") }
            let ticket = Ticket(
                space: .alone, inviter: chute.device, secret: [], addresses: [], expires: 0)
            let calls: [(String, () async throws -> Void)] = [
                ("write", { try await store.write { _ in } }),
                ("read", { try await store.read { _ in } }),
                ("startSync", { try await chute.startSync() }),
                ("run", { try await chute.run() }),
                ("invite", { _ = try await chute.invite() }),
                ("revokeTicket", { _ = try await chute.revokeTicket("a") }),
                ("join", { try await chute.join(ticket) }),
                ("members", { _ = try await chute.members() }),
                ("remove", { try await chute.remove(chute.device) }),
                ("leave", { try await chute.leave() }),
                ("peers", { _ = try await chute.peers() }),
                ("setPeerMetadata", { try chute.setPeerMetadata(["a": .null]) }),
            ]
            for (name, call) in calls {
                do {
                    try await call()
                    Issue.record("\(name) did not throw")
                } catch let error as ChuteError {
                    #expect(error.code == .closed, "\(name)")
                }
            }
            await chute.stopSync()
            #expect(!chute.isSyncActive)
            #expect(await chute.fetched().isEmpty)
            #expect(await chute.stalledFetches().isEmpty)
            #expect(chute.transfers().isEmpty)
            #expect(await chute.keepers(of: [], among: [chute.device]).isEmpty)
            #expect(await chute.transportStates.isEmpty)
            #expect(await chute.removedBy.isEmpty)
        }
    }

    @Test func `closing lets what runs end, or says that it is closed`() async throws {
        try await withTemporaryDirectory { folder in
            let chute = try await open(folder.appending("a"))
            try await chute.startSync()
            let written = await withTaskGroup(of: Int.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in 0... {
                            do {
                                try await chute.store.write {
                                    _ = try $0.put(
                                        seed: Digest(hashing: Array("\(task) \(number)".utf8)),
                                        in: "things", fields: ["n": .integer(Int64(number))])
                                }
                            } catch let error as ChuteError where error.code == .closed {
                                return number
                            } catch { Issue.record("\(error)") }
                        }
                        return 0
                    }
                }
                group.addTask {
                    do {
                        try await eventually("some") { try await count(in: chute) > 20 }
                        try await chute.close()
                    } catch { Issue.record("\(error)") }
                    return 0
                }
                return await group.reduce(0, +)
            }
            let again = try await open(folder.appending("a"))
            #expect(try await count(in: again) == written)
            try await again.close()
        }
    }

    @Test func `an engine that nobody closes ends with its last reference`() async throws {
        try await withTemporaryDirectory { folder in
            var chute: Chute? = try await open(folder.appending("a"))
            var store = chute?.store
            try await chute?.startSync()
            let updates = try #require(chute?.peerUpdates())
            weak let sync = chute?.sync
            chute = nil
            for await _ in updates {}
            try await eventually("replication ended") { sync == nil }
            // Who still writes there has it to itself.
            let error = await #expect(throws: ChuteError.self) {
                _ = try await open(folder.appending("a"))
            }
            #expect(error?.code == .heldElsewhere)
            try await store?.write {
                try $0.publish(.init(name: "a", addresses: [], collections: []))
            }
            store = nil
            try await eventually("the directory is free") {
                do { try await open(folder.appending("a")).close() } catch let error as ChuteError {
                    guard error.code == .heldElsewhere else { throw error }
                    return false
                }
                return true
            }
        }
    }
}
