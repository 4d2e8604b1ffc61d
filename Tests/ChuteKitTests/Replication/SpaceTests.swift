import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(3)))
struct SpaceTests {
    /// Engines with these names in a fresh folder; stopped afterwards, what they said is shown
    /// where the test fails.
    private func withEngines(
        _ names: [String], identity: Chute.Identity = .paired,
        _ body: ([TestEngine]) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            var engines: [TestEngine] = []
            for name in names {
                engines.append(try await TestEngine(folder.appending(name), identity: identity))
            }
            do { try await body(engines) } catch {
                for engine in engines {
                    for line in engine.said.suffix(40) { print(engine.home.lastComponent, line) }
                    await engine.stop()
                }
                throw error
            }
            for engine in engines { await engine.stop() }
        }
    }

    private func ticket(
        of engine: TestEngine, uses: Int = 1, lifetime: UInt64 = 600
    ) async throws -> Ticket {
        let address = try await engine.address()
        return try await engine.chute.store.write {
            try $0.makeTicket(
                role: .member, uses: uses, lifetimeSeconds: lifetime, addresses: [address])
        }
    }

    private func refusal(of joiner: TestEngine, _ ticket: Ticket) async -> String {
        do {
            try await joiner.chute.join(ticket)
            return "joined"
        } catch { return "\(error)" }
    }

    @Test func `what was shared before and after joining comes to both sides`() async throws {
        try await withEngines(["a", "b"]) { engines in
            let (a, b) = (engines[0], engines[1])
            let early = [try await a.share([1], as: "1"), try await b.share([2], as: "2")]
            try await a.invite(b)
            try await a.awaitConnection(to: b)
            let late = [try await a.share([3], as: "3"), try await b.share([4], as: "4")]
            for document in early + late {
                for engine in engines {
                    try await eventually("\(document.id)") {
                        try await engine.document(document.id) != nil
                    }
                }
            }
            #expect(try await b.members().map(\.role).count == 2)
        }
    }

    @Test func `a ticket of no use says why, and the next one works`() async throws {
        try await withEngines(["a", "b", "c"]) { engines in
            let (a, b, c) = (engines[0], engines[1], engines[2])
            let expired = try await ticket(of: a, lifetime: 0)
            #expect(await refusal(of: b, expired).contains("expired"))
            let revoked = try await ticket(of: a)
            #expect(try await a.chute.store.write { try $0.revokeTicket(revoked.id) })
            #expect(await refusal(of: b, revoked).contains("revoked"))
            let unknown = Ticket(
                space: revoked.space, inviter: revoked.inviter,
                secret: Array(repeating: 1, count: 16), addresses: revoked.addresses,
                expires: revoked.expires)
            #expect(await refusal(of: b, unknown).contains("does not know"))
            let wrongDevice = Ticket(
                space: revoked.space, inviter: c.chute.device, secret: revoked.secret,
                addresses: revoked.addresses, expires: revoked.expires)
            #expect(await refusal(of: b, wrongDevice).contains("another device"))
            let once = try await ticket(of: a)
            #expect(await refusal(of: b, once) == "joined")
            #expect(await refusal(of: c, once).contains("used up"))
            // The same device may repeat it.
            #expect(await refusal(of: b, once) == "joined")
            #expect(try await a.members().count == 2)
            #expect(await c.chute.space == nil)
        }
    }

    @Test func `of several addresses one that leads to another device is passed over`() async throws
    {
        try await withEngines(["a", "b", "c"]) { engines in
            let (a, b, c) = (engines[0], engines[1], engines[2])
            let good = try await ticket(of: a)
            let ticket = Ticket(
                space: good.space, inviter: good.inviter, secret: good.secret,
                addresses: [try await c.address()] + good.addresses, expires: good.expires)
            #expect(await refusal(of: b, ticket) == "joined")
        }
    }

    /// Three in a row: the outer two never meet.
    private func chain(
        _ body: (_ a: TestEngine, _ b: TestEngine, _ c: TestEngine) async throws -> Void
    ) async throws {
        try await withEngines(["a", "b", "c"]) { engines in
            let (a, b, c) = (engines[0], engines[1], engines[2])
            try await b.invite(a, role: .owner)
            try await b.invite(c)
            try await b.awaitConnection(to: a)
            try await b.awaitConnection(to: c)
            try await body(a, b, c)
        }
    }

    @Test func `in a chain documents, bytes and receipts pass through the middle`() async throws {
        try await chain { a, b, c in
            var random = SeededGenerator(seed: 1)
            let bytes = random.bytes(3_500_000)
            let document = try await a.share(bytes, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await c.awaitDocument(document)
            try await c.want(id, to: "got", from: a.chute.device)
            try await b.awaitDocument(document)
            try await b.want(id, to: "through", from: a.chute.device)
            try await b.awaitFetched(1)
            // As a receiver records what it published: the hashes are not its to give.
            let file = try Folder(at: b.files).open("through", FileDescriptor.readOnly)
            let location = Location(
                root: b.root, path: "through",
                fingerprint: FileFingerprint(try file.status()).encoded, isOwned: false)
            try await b.chute.store.write { try $0.addLocation(location, of: id) }
            try await c.awaitFetched(1)
            #expect(try c.read("got") == bytes)
            try await c.chute.store.write {
                try $0.state(
                    Receipt(
                        collection: TestEngine.collection, document: document.id,
                        version: document.versionID, state: .delivered))
            }
            try await eventually("the receipt of c at a") {
                try await a.chute.store.read { try $0.receipts(for: document) }[c.chute.device]
                    != nil
            }
        }
    }

    @Test func `a removed member is cut off and stays out, also through a third`() async throws {
        try await chain { a, b, c in
            let before = try await a.share([1], as: "before")
            try await c.awaitDocument(before)
            let device = a.chute.device
            try await b.chute.store.write { try $0.removeMember(device) }
            try await eventually("a is cut off") { try await !b.isConnected(to: a) }
            let after = try await a.share([2], as: "after")
            // B never takes it, even if it comes by another way: handed over as if by C.
            let pages = try await a.chute.store.read {
                try $0.changes(after: 0, for: b.chute.device, since: .max)
            }
            let parts = try pages.flatMap(\.parts).map { part in
                ReceivedPart(
                    batch: try SignedBatch(header: part.header, signature: part.signature),
                    changes: try part.changes.map { try Change(bytes: $0) })
            }
            let third = c.chute.device
            try await b.chute.store.write {
                _ = try $0.receive(parts, upTo: nil, from: third)
            }
            let good = try await b.share([3], as: "good")
            try await c.awaitDocument(good)
            #expect(try await b.document(after.id) == nil)
            #expect(try await c.document(after.id) == nil)
            #expect(try await c.document(before.id) != nil)
            try await eventually("c knows") { try await c.members().count == 2 }
            #expect(try await !b.isConnected(to: a))
        }
    }

    @Test func `a removed member hears of it, by the facts or when it dials`() async throws {
        try await chain { a, b, c in
            #expect(try await a.chute.store.read { try $0.removers() } == nil)
            let device = a.chute.device
            try await b.chute.store.write { try $0.removeMember(device) }
            try await eventually("a was told") {
                await a.chute.removedBy == [b.chute.device]
            }
            try await eventually("a is cut off") { try await !b.isConnected(to: a) }
            // The facts can come by somebody who does not have them yet, or by a carried folder.
            let page = try await b.chute.store.read { try $0.introduction() }
            let parts = try page.parts.map { part in
                ReceivedPart(
                    batch: try SignedBatch(header: part.header, signature: part.signature),
                    changes: try part.changes.map { try Change(bytes: $0) })
            }
            let third = c.chute.device
            try await a.chute.store.write {
                _ = try $0.receive(parts, upTo: nil, from: third)
            }
            #expect(try await a.chute.store.read { try $0.removers() } == [b.chute.device])
            #expect(try await c.chute.store.read { try $0.removers() } == nil)
            // Who left is removed by nobody.
            try await a.chute.store.write { try $0.leaveSpace() }
            #expect(try await a.chute.store.read { try $0.removers() } == nil)
            try await eventually("it is forgotten") { await a.chute.removedBy.isEmpty }
        }
    }

    @Test func `whoever leaves does not tell the others that they were removed`() async throws {
        try await chain { a, b, c in
            try await b.chute.store.write { try $0.leaveSpace() }
            for engine in [a, c] {
                // As the connection ends, or when it dials again: what a peer says last can be lost
                // with a connection over which it is being written to.
                try await eventually("\(engine.home) is told") {
                    engine.said.joined(separator: "\n")
                } holds: {
                    engine.said.contains {
                        $0.contains("it left the space") || $0.contains("goodbye: not-a-member")
                    }
                }
                #expect(await engine.chute.removedBy.isEmpty)
            }
        }
    }

    @Test func `a removed member comes back by a new ticket, and what it wrote shows`() async throws
    {
        try await chain { a, b, c in
            let device = a.chute.device
            try await b.chute.store.write { try $0.removeMember(device) }
            try await eventually("a is cut off") { try await !b.isConnected(to: a) }
            let meanwhile = try await a.share([2], as: "meanwhile")
            let again = try await ticket(of: b)
            let answer = await refusal(of: a, again)
            #expect(answer == "joined")
            try await c.awaitDocument(meanwhile)
        }
    }

    @Test func `a change forged by the one in the middle is refused, a good one comes`()
        async throws
    {
        try await chain { a, b, c in
            let real = try await a.share([1], as: "real")
            try await c.awaitDocument(real)
            // B signs, with its own key, a version of A's document.
            let key = try #require(try DeviceKeyFile(in: b.home).load())
            let forged = Change(
                kind: .owned, author: a.chute.device, counter: 99,
                stamp: Stamp(milliseconds: 1), collection: TestEngine.collection,
                document: real.id, version: 9, seed: real.seed, body: .map([:]))
            let space = try #require(await b.chute.space)
            let batch = SignedBatch(signing: [forged.hash], in: space, with: key)
            try await b.chute.store.write {
                _ = try $0.insert(
                    forged, batch: $0.insert(batch), state: .applied, via: nil)
            }
            let good = try await a.share([2], as: "good")
            try await c.awaitDocument(good)
            #expect(try await c.document(real.id)?.version == 1)
            #expect(c.said.contains { $0.contains("refused 1 changes") })
        }
    }

    @Test func `an address is dialled for as long as a member publishes it`() async throws {
        try await withEngines(["a", "b", "c"]) { engines in
            let (a, b, c) = (engines[0], engines[1], engines[2])
            try await b.invite(a)
            try await b.invite(c)
            // A and C find each other by what A says of itself, under several addresses.
            let address = try await a.address()
            let port = try #require(SocketAddress(address)).port
            try await a.chute.store.write {
                try $0.publish(
                    DeviceProfile(
                        name: "a", addresses: [address, "127.0.0.2:\(port)", "localhost:\(port)"],
                        collections: []))
            }
            try await c.awaitConnection(to: a)
            let document = try await a.share([1], as: "x")
            try await c.awaitDocument(document)
            let device = a.chute.device
            try await b.chute.store.write { try $0.removeMember(device) }
            try await eventually("c lets a go") { try await !c.isConnected(to: a) }
            try await eventually("c dials it no more") {
                await c.chute.dialledAddresses.isDisjoint(with: [address])
            }
        }
    }

    @Test func `two that dial each other keep exactly one connection`() async throws {
        try await withTemporaryDirectory { folder in
            let identity = Chute.Identity.sharedKey(.test())
            // A port that is free now; taken again a moment later.
            let first = try await TestEngine(folder.appending("a"), identity: identity)
            let address = try await first.address()
            await first.stop()
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [address, address])
            let a = try await TestEngine(
                folder.appending("c"), identity: identity, listen: address,
                connect: [try await b.address()])
            try await a.awaitConnection(to: b)
            var random = SeededGenerator(seed: 8)
            let bytes = random.bytes(2_000_000)
            let document = try await a.share(bytes, as: "x")
            try await b.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await b.want(id, to: "y")
            try await b.awaitFetched(1)
            try await a.awaitConnection(to: b)
            #expect(await a.chute.sessionCount == 1)
            #expect(await b.chute.sessionCount == 1)
            await a.stop()
            await b.stop()
        }
    }

    @Test func `a clone of a device is told so, and the device stays connected`() async throws {
        try await withTemporaryDirectory { folder in
            let identity = Chute.Identity.sharedKey(.test())
            let a = try await TestEngine(folder.appending("a"), identity: identity)
            let b = try await TestEngine(
                folder.appending("b"), identity: identity, connect: [try await a.address()])
            try await a.awaitConnection(to: b)
            let other = folder.appending("clone")
            try Folder.make(other, mode: 0o700)
            let key = try Folder(at: b.home).open("device.key", FileDescriptor.readOnly)
            let copy = try Folder(at: other).open(
                "device.key", FileDescriptor.readWriteCreate, mode: 0o600)
            try copy.write(try key.read(count: 4096, at: 0), at: 0)
            let clone = try await TestEngine(
                other, identity: identity, connect: [try await a.address()])
            #expect(clone.chute.device == b.chute.device)
            try await eventually("goodbye to the clone") {
                clone.said.contains { $0.contains("duplicate-device") }
            }
            let document = try await a.share([1], as: "x")
            try await b.awaitDocument(document)
            await clone.stop()
            await a.stop()
            await b.stop()
        }
    }

    @Test func `another key, or none, is no way in`() async throws {
        try await withTemporaryDirectory { folder in
            let a = try await TestEngine(
                folder.appending("a"), identity: .sharedKey(.test(1)))
            let address = try await a.address()
            let b = try await TestEngine(
                folder.appending("b"), identity: .sharedKey(.test(2)), connect: [address])
            let c = try await TestEngine(folder.appending("c"), connect: [address])
            try await eventually("both tried") {
                b.said.contains { $0.contains("debug") } && c.said.contains { $0.contains("debug") }
            }
            #expect(try await a.members().count == 1)
            #expect(await a.chute.sessionCount == 0)
            for engine in [a, b, c] { await engine.stop() }
        }
    }
}
