import ChuteSystem
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

/// Three in a row of which the outer two never meet: what the middle one does not take itself.
@Suite(.timeLimit(.minutes(3)))
struct RelayTests {
    private struct Chain: Sendable {
        let a: TestEngine
        let b: TestEngine
        let c: TestEngine
        let folder: BytePath

        /// What the middle one keeps for others, and the files of that.
        func relayed() throws -> (byteCount: UInt64, names: Set<BytePath>) {
            (b.chute.attachments.blobs.relays.byteCount, try b.blobNames())
        }

        /// Waits until nothing is there for others any more.
        func awaitNothing() async throws {
            try await b.chute.attachments.blobs.collectRelays()
            let (byteCount, names) = try relayed()
            #expect(byteCount == 0)
            #expect(names.isEmpty)
            let rows = try await b.chute.store.read { try $0.rows(RelayRecord.self) }
            #expect(rows.isEmpty)
        }
    }

    private func withChain(
        relay byteCount: UInt64? = nil, _ body: (Chain) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(folder.appending("a"))
            let c = try await TestEngine(folder.appending("c"))
            let b = try await TestEngine(
                folder.appending("b"), connect: [try await a.address(), try await c.address()])
            if let byteCount { try await b.chute.setRelayCache(byteCount: byteCount) }
            do {
                try await b.invite(a)
                try await b.invite(c)
                try await b.awaitConnection(to: a)
                try await b.awaitConnection(to: c)
                try await body(Chain(a: a, b: b, c: c, folder: folder))
            } catch {
                for engine in [a, b, c] {
                    for line in engine.said.suffix(40) { print(engine.home.lastComponent, line) }
                    await engine.stop()
                }
                throw error
            }
            for engine in [a, b, c] { await engine.stop() }
        }
    }

    /// Shares these bytes at A, and waits until C knows of them.
    private func share(_ bytes: [UInt8], as name: BytePath, _ chain: Chain) async throws
        -> AttachmentID
    {
        let document = try await chain.a.share(bytes, as: name)
        try await chain.c.awaitDocument(document)
        return try #require(document.attachment)
    }

    @Test(arguments: [1, 20_000, 3_500_000])
    func `what the middle one does not take comes through it, and counts for nothing there`(
        byteCount: Int
    ) async throws {
        try await withChain { chain in
            var random = SeededGenerator(seed: UInt64(byteCount))
            let bytes = random.bytes(byteCount)
            let id = try await share(bytes, as: "photo", chain)
            // A document of the other kind, for which having the bytes is said at once.
            let merged = try await chain.a.pictures.insert([
                "token": .attachment(AttachmentToken(id: id))
            ])
            try await eventually("it came") {
                try await chain.b.pictures.findByID(merged).exec() != nil
            }
            try await chain.c.want(id, to: "got", from: chain.a.chute.device)
            try await chain.c.awaitFetched(1)
            #expect(try chain.c.read("got") == bytes)
            let (kept, names) = try chain.relayed()
            #expect(kept == UInt64(byteCount))
            #expect(names == [BytePath(id.blobName)])
            let b = chain.b.chute
            try await b.store.write {
                _ = try $0.insert(["token": .attachment(AttachmentToken(id: id))], in: "other")
            }
            #expect(try await b.store.read { try !$0.holders(of: id).contains(b.device) })
            #expect(try await b.store.read { try !$0.isHeld(id) })
            #expect(try await b.store.read { try $0.wantTotals().count } == 0)
            // Asked for here it is this device's own.
            let fetch = try await chain.b.pictures.findByID(merged).exec()
            let token = try #require(fetch?.fields["token"]?.attachmentToken)
            for event in try await allEvents(of: chain.b.pictures.fetch(token)) {
                if case .completed = event { break }
            }
            #expect(try await b.store.read { try $0.holders(of: id).contains(b.device) })
            #expect(try chain.relayed().byteCount == 0)
            #expect(try chain.relayed().names == [BytePath(id.blobName)])
        }
    }

    @Test func `the bound holds, whatever is asked for`() async throws {
        let limit: UInt64 = 2_500_000
        try await withChain(relay: limit) { chain in
            var random = SeededGenerator(seed: 3)
            var peak: UInt64 = 0
            for number in 0..<5 {
                let bytes = random.bytes(1_000_000 + number)
                let id = try await share(bytes, as: BytePath("\(number)"), chain)
                try await chain.c.want(id, to: BytePath("got-\(number)"))
                try await chain.c.awaitFetched(1)
                #expect(try chain.c.read(BytePath("got-\(number)")) == bytes)
                peak = max(peak, try chain.relayed().byteCount)
                #expect(try chain.relayed().names.count <= 2)
            }
            #expect(peak <= limit)
            #expect(peak > 2_000_000)
            let large = try await share(random.bytes(2_600_000), as: "large", chain)
            try await chain.c.want(large, to: "never")
            try await eventually("stalled") { await chain.c.chute.stalledFetches() == [large] }
            try await chain.b.chute.setRelayCache(byteCount: 0)
            try await chain.awaitNothing()
        }
    }

    @Test func `without a relay the one that waits hears who has it`() async throws {
        try await withChain(relay: 0) { chain in
            let id = try await share([1, 2, 3], as: "photo", chain)
            let token = AttachmentToken(id: id)
            let merged = try await chain.a.pictures.insert(["token": .attachment(token)])
            try await eventually("it came") {
                try await chain.c.pictures.findByID(merged).exec() != nil
            }
            for try await event in chain.c.pictures.fetch(token) {
                guard case .stalled(let holders) = event, !holders.isEmpty else { continue }
                #expect(holders == [chain.a.chute.device])
                break
            }
            #expect(await chain.c.chute.stalledFetches() == [id])
            #expect(try chain.relayed().names.isEmpty)
            // It goes on once the middle one may.
            try await chain.b.chute.setRelayCache(byteCount: 10)
            try await chain.c.want(id, to: "got")
            await chain.c.chute.fetcher.askAgain()
            try await chain.c.awaitFetched(1)
        }
    }

    @Test func `a relay that starts anew in the middle goes on with what it has`() async throws {
        try await withTemporaryDirectory { folder in
            var random = SeededGenerator(seed: 4)
            let bytes = random.bytes(20_000_000)
            let key = Chute.Identity.sharedKey(.test())
            let a = try await TestEngine(folder.appending("a"), identity: key)
            let c = try await TestEngine(folder.appending("c"), identity: key)
            let proxy = try FaultyProxy(
                to: try await a.address(), faults: .init(silentAfter: 9_000_000))
            let addresses = [proxy.address, try await c.address()]
            let document = try await a.share(bytes, as: "film")
            let id = try #require(document.attachment)
            // In functions of their own: the directory is free once the engine is gone.
            func fetchSome() async throws {
                let b = try await TestEngine(
                    folder.appending("b"), identity: key, connect: addresses)
                try await c.awaitDocument(document)
                try await c.want(id, to: "got")
                try await eventually("some of it") {
                    b.chute.transfers().contains {
                        $0.direction == .receiving && $0.done > 4_000_000
                    }
                }
                await b.stop()
                try await b.chute.close()
            }
            func fetchRest() async throws {
                let b = try await TestEngine(
                    folder.appending("b"), identity: key, connect: addresses)
                try await c.awaitFetched(1, within: .seconds(60))
                #expect(try c.read("got") == bytes)
                try await eventually("it is here") {
                    b.chute.attachments.blobs.relays.with { $0.isHere(id) }
                }
                #expect(try await b.chute.store.read { try !$0.isHeld(id) })
                await b.stop()
                try await b.chute.close()
            }
            try await fetchSome()
            // Enough for what is missing, not for all of it again.
            proxy.set(.init(silentAfter: 17_500_000))
            try await fetchRest()
            // What is there for others is known from before.
            let b = try await TestEngine(folder.appending("b"), identity: key, isRunning: false)
            #expect(b.chute.attachments.blobs.relays.byteCount == UInt64(bytes.count))
            #expect(try await b.chute.store.read { try !$0.isHeld(id) })
            for engine in [a, b, c] { await engine.stop() }
            await proxy.stop()
        }
    }

    @Test func `what no document names any more goes`() async throws {
        try await withChain { chain in
            let document = try await chain.a.share([4, 5], as: "photo")
            try await chain.c.awaitDocument(document)
            try await chain.c.want(try #require(document.attachment), to: "got")
            try await chain.c.awaitFetched(1)
            #expect(try chain.relayed().names.count == 1)
            try await chain.a.unname(document)
            try await eventually("taken back") {
                try await chain.b.document(document.id)?.fields == nil
            }
            try await chain.awaitNothing()
        }
    }

    @Test func `two that do not have it ask nobody for each other`() async throws {
        try await withChain { chain in
            let d = try await TestEngine(
                chain.folder.appending("d"),
                connect: [try await chain.b.address(), try await chain.c.address()])
            try await chain.b.invite(d)
            try await chain.b.awaitConnection(to: d)
            try await chain.c.awaitConnection(to: d)
            let id = try await share([7, 7], as: "gone", chain)
            let document = try #require(try await chain.c.documents().first)
            try await d.awaitDocument(document)
            await chain.a.stop()
            try await eventually("a is away") { try await !chain.b.isConnected(to: chain.a) }
            try await chain.c.want(id, to: "got")
            try await eventually("both said no") {
                await chain.c.chute.fetcher.relayRefusals(of: id)
                    == [chain.b.chute.device, d.chute.device]
            }
            for engine in [chain.b, d] {
                #expect(engine.chute.attachments.blobs.relays.byteCount == 0)
                #expect(try await engine.chute.store.read { try $0.wantTotals().count } == 0)
            }
            await d.stop()
        }
    }

    @Test func `a member that asks for a thousand and takes none costs no more than the bound`()
        async throws
    {
        try await withChain(relay: 64_000) { chain in
            var random = SeededGenerator(seed: 6)
            var ids: [AttachmentID] = []
            for number in 0..<1000 {
                let name = BytePath("\(number)")
                try chain.a.write(random.bytes(1000), to: name)
                ids.append(try await chain.a.hold(name))
            }
            let named = ids
            try await chain.a.chute.store.write { transaction in
                for id in named {
                    try transaction.put(
                        seed: id.digest, in: TestEngine.collection,
                        fields: ["token": .attachment(AttachmentToken(id: id))])
                }
            }
            try await eventually("the middle one knows") {
                try await chain.b.documents().count == 1000
            }
            let ticket = try await chain.b.chute.invite()
            let thief = try await RawPeer(at: chain.b.address())
            try await thief.enter(secret: ticket.secret)
            for (number, id) in ids.enumerated() {
                try await thief.send(
                    RawPeer.Frame.relay,
                    RelayWish.cbor([RelayWish(number: UInt32(number), attachment: id)]))
            }
            let refused = try await withTimeout(.seconds(60)) {
                var refused = 0
                while refused < 1000 - 64 {
                    let answer = try CBOR.decode(try await thief.next(.absent))
                    refused += answer.arrayValue?.count ?? 0
                }
                return refused
            }
            try await eventually("the others came") { try chain.relayed().names.count == 64 }
            #expect(try chain.relayed().byteCount == 64_000)
            #expect(refused == 1000 - 64)
        }
    }

    @Test func `a member gets a sender's file through an owner that does not take it`()
        async throws
    {
        try await RoleSpace.with { space in
            let id = try #require(space.own.attachment)
            try await space.member.want(id, to: "got", from: space.sender.chute.device)
            try await space.member.awaitFetched(1)
            #expect(try space.member.read("got") == Array("bytes of sam".utf8))
            #expect(try space.owner.blobNames() == [BytePath(id.blobName)])
        }
    }
}

extension Fetcher {
    /// As `seekRelaysAgain` does now and then.
    fileprivate func askAgain() {
        let stalled = Array(transfers.keys)
        for attachment in stalled {
            relayAsked[attachment] = nil
            relayOpen[attachment] = nil
        }
        seekRelay(for: stalled)
    }

    /// Who was asked and said no.
    fileprivate func relayRefusals(of attachment: AttachmentID) -> Set<DeviceID> {
        guard let asked = relayAsked[attachment] else { return [] }
        return asked.subtracting([relayOpen[attachment]].compactMap(\.self))
    }
}
