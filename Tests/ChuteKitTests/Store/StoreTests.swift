import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

struct StoreTests {
    private static let collection = "things"

    private struct Failure: Error {}

    private func withStore(_ body: (StoreWriter, DeviceKey, BytePath) async throws -> Void)
        async throws
    {
        try await withTemporaryDirectory { folder in
            let key = try DeviceKey.generate()
            let path = folder.appending("chute.db")
            try await body(try StoreWriter(path: path, key: key, sharedKey: nil), key, path)
        }
    }

    private func seed(_ number: Int) -> Digest { Digest(hashing: Array("\(number)".utf8)) }

    private func documents(_ store: StoreWriter, after n: Int64 = 0, limit: Int = .max) async throws
        -> [OwnedDocument]
    {
        try await store.write {
            try $0.documents(in: Self.collection, learnedAfter: n, limit: limit)
        }
    }

    /// A change of another device, signed by it.
    private struct Author {
        let key: DeviceKey
        var device: DeviceID { DeviceID(publicKey: key.spki) }
        var counter: UInt64 = 0

        init() throws { key = try DeviceKey.generate() }

        mutating func change(
            _ seed: Digest, version: UInt64 = 1, fields: Fields? = ["a": .integer(1)],
            counter: UInt64? = nil
        ) -> Change {
            self.counter += 1
            return Change(
                kind: .owned, author: device, counter: counter ?? self.counter,
                stamp: Stamp(milliseconds: 1), collection: StoreTests.collection,
                document: Change.ownedDocument(
                    of: device, in: StoreTests.collection, seed: seed),
                version: version, seed: seed, body: fields?.cbor)
        }

        func batch(_ changes: [Change], in space: SpaceID) -> SignedBatch {
            SignedBatch(signing: changes.map(\.hash), in: space, with: key)
        }
    }

    @Test func `what was written is there after a new start, with a new version on top`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let key = try DeviceKey.generate()
            let path = folder.appending("chute.db")
            let seed = seed(1)
            let first = try await StoreWriter(path: path, key: key, sharedKey: nil).write {
                try $0.put(seed: seed, in: Self.collection, fields: ["a": .integer(1)])
            }
            let store = try StoreWriter(path: path, key: key, sharedKey: nil)
            #expect(try await documents(store) == [first])
            let second = try await store.write {
                try $0.put(seed: seed, in: Self.collection, fields: ["a": .integer(2)])
            }
            #expect(second.version == 2 && second.learned > first.learned)
            #expect(second.id == first.id)
            try await store.write { try $0.retract(second.id, in: Self.collection) }
            #expect(try await documents(store).map(\.fields) == [nil])
            await #expect(throws: ChuteError.self) {
                try await store.write {
                    try $0.retract(DocumentID(Digest(hashing: [9])), in: Self.collection)
                }
            }
        }
    }

    @Test func `a space is entered or left in a transaction of its own, which says so`()
        async throws
    {
        try await withStore { store, _, _ in
            for act: @Sendable (Transaction) throws -> Void in [
                {
                    _ = try $0.makeTicket(
                        role: .member, uses: 1, lifetimeSeconds: .max, addresses: [])
                }, { try $0.leaveSpace() },
            ] {
                await #expect {
                    try await store.write { transaction in
                        _ = try transaction.insert(["a": 1], in: Self.collection)
                        try act(transaction)
                    }
                } throws: { ($0 as? ChuteError)?.code == .invalid }
                try await store.write { try act($0) }
            }
            #expect(try await store.write { try $0.space() } == nil)
        }
    }

    @Test(arguments: ["_members", "_receipts", "_anything", ""])
    func `nothing is put into the collections of the engine`(_ name: String) async throws {
        try await withStore { store, _, _ in
            await #expect {
                try await store.write {
                    _ = try $0.put(seed: Digest(hashing: [1]), in: name, fields: ["a": 1])
                }
            } throws: { ($0 as? ChuteError)?.code == .invalid }
        }
    }

    @Test func `a transaction that throws leaves counter, clock and members as they were`()
        async throws
    {
        try await withStore { store, _, _ in
            let seed = seed(1)
            await #expect(throws: Failure.self) {
                try await store.write { transaction in
                    _ = try transaction.makeTicket(
                        role: .member, uses: 1, lifetimeSeconds: 1, addresses: [])
                    try transaction.put(seed: seed, in: Self.collection, fields: [:])
                    throw Failure()
                }
            }
            #expect(await store.space == .alone)
            #expect(await store.membership == Membership())
            #expect(try await documents(store).isEmpty)
            let highest = try await store.write { transaction in
                try transaction.put(seed: seed, in: Self.collection, fields: [:])
                return try transaction.highestCounter(of: transaction.device)
            }
            #expect(highest == 1)
        }
    }

    static let badFields: [Fields] = [
        ["": .null], ["a": .map(["": .integer(1)])],
        [
            "a": .attachment(
                AttachmentToken(
                    id: AttachmentID(digest: Digest(hashing: [1]), byteCount: 1) ?? .none,
                    metadata: ["x": String(repeating: "y", count: 70_000)]))
        ], ["deep": (0..<40).reduce(.null) { value, _ in .array([value]) }],
    ]

    @Test(arguments: badFields)
    func `fields that no peer would take are refused when they are written`(
        _ fields: Fields
    ) async throws {
        try await withStore { store, _, _ in
            let seed = seed(1)
            await #expect(throws: ChuteError.self) {
                try await store.write {
                    try $0.put(seed: seed, in: Self.collection, fields: fields)
                }
            }
            let left = try await documents(store)
            #expect(left.isEmpty)
        }
    }

    @Test func `only what its author signed for this space is taken`() async throws {
        try await withStore { store, _, _ in
            var (author, other) = (try Author(), try Author())
            let seed = seed(1)
            let change = author.change(seed)
            let via = other.device
            let space = await store.space
            let cases: [(SignedBatch, WireError)] = [
                (author.batch([], in: space), .badSignature),
                (other.batch([change], in: space), .badSignature),
                (author.batch([change], in: SharedKey.test().space), .wrongSpace),
            ]
            for (batch, error) in cases {
                let part = ReceivedPart(batch: batch, changes: [change])
                let refused = try await store.write {
                    try $0.receive([part], upTo: nil, from: via)
                }
                #expect(refused == [error])
            }
            let batch = author.batch([change], in: space)
            #expect(throws: WireError.badSignature) {
                _ = try SignedBatch(header: batch.header, signature: other.key.sign(batch.header))
            }
        }
    }

    @Test func `what is held for an author shows once it is admitted, each under its own number`()
        async throws
    {
        try await withStore { store, _, _ in
            _ = try await store.write {
                try $0.makeTicket(role: .member, uses: 1, lifetimeSeconds: 9, addresses: [])
            }
            let space = await store.space
            var author = try Author()
            let device = author.device
            let changes = (0..<20).map { author.change(seed($0)) }
            let part = ReceivedPart(batch: author.batch(changes, in: space), changes: changes)
            let refused = try await store.write { try $0.receive([part], upTo: nil, from: device) }
            #expect(refused.isEmpty)
            #expect(try await documents(store).isEmpty)
            try await store.write { try $0.admit(device, as: .member) }
            // Read page by page, as a reader does that does not want to miss any.
            var seen: [OwnedDocument] = []
            while true {
                let page = try await documents(store, after: seen.last?.learned ?? 0, limit: 3)
                if page.isEmpty { break }
                seen += page
            }
            #expect(Set(seen.map(\.id)).count == 20)

            // Removed: what it wrote beyond the cut-off is hidden, and shown again afterwards.
            try await store.write { try $0.removeMember(device) }
            let late = (20..<30).map { author.change(seed($0)) }
            let latePart = ReceivedPart(batch: author.batch(late, in: space), changes: late)
            _ = try await store.write { try $0.receive([latePart], upTo: nil, from: device) }
            #expect(try await documents(store).count == 20)
            try await store.write { try $0.admit(device, as: .member) }
            #expect(try await documents(store, after: seen.last?.learned ?? 0).count == 10)
        }
    }

    @Test func `of two versions the greater stands, of equal ones the greater hash`() async throws {
        try await withStore { store, _, _ in
            _ = try await store.write {
                try $0.makeTicket(role: .member, uses: 1, lifetimeSeconds: 9, addresses: [])
            }
            let space = await store.space
            var author = try Author()
            let device = author.device
            try await store.write { try $0.admit(device, as: .member) }
            let two = [
                author.change(seed(1), version: 2, fields: ["a": .integer(1)]),
                author.change(seed(1), version: 2, fields: ["a": .integer(2)]),
            ].sorted { $0.hash < $1.hash }
            let old = author.change(seed(1), version: 1)
            for order in [[two[0], old, two[1]], [two[1], two[0], old]] {
                for change in order {
                    let part = ReceivedPart(
                        batch: author.batch([change], in: space), changes: [change])
                    _ = try await store.write {
                        try $0.receive([part], upTo: nil, from: device)
                    }
                }
                #expect(try await documents(store).map(\.versionID) == [two[1].hash])
            }
        }
    }

    @Test func `a cursor of another history starts over, one of a superseded change does not`()
        async throws
    {
        try await withStore { store, _, _ in
            let seed = seed(1)
            for number in 0..<3 {
                _ = try await store.write {
                    try $0.put(
                        seed: seed, in: Self.collection, fields: ["a": .integer(Int64(number))])
                }
            }
            try await store.write { transaction in
                let peer = DeviceID(Digest(hashing: [1]))
                let page = try #require(transaction.changes(after: 0, for: peer, since: 0).first)
                #expect(page.parts.flatMap(\.changes).count == 1)
                let end = try #require(page.end)
                #expect(end.n == 3)
                #expect(try transaction.start(after: end) == 3)
                #expect(try transaction.start(after: Cursor(n: 3, tag: end.tag.reversed())) == 0)
                #expect(try transaction.start(after: Cursor(n: 9, tag: end.tag)) == 0)
                #expect(try transaction.start(after: nil) == 0)
                let tag = try transaction.database.prepare("SELECT tag FROM changes WHERE n = 1")
                    .first { $0.bytes(0) }
                #expect(try transaction.start(after: Cursor(n: 1, tag: tag ?? [])) == 1)
            }
        }
    }

    @Test func `delivered is never taken back, and tallies add up`() async throws {
        try await withStore { store, _, _ in
            _ = try await store.write {
                try $0.makeTicket(role: .member, uses: 1, lifetimeSeconds: 9, addresses: [])
            }
            let space = await store.space
            let author = try Author()
            let device = author.device
            try await store.write { try $0.admit(device, as: .member) }
            var counter: UInt64 = 0
            func state(_ document: OwnedDocument, _ state: Receipt.State, _ version: UInt64)
                async throws
            {
                let receipt = Receipt(
                    collection: document.collection, document: document.id,
                    version: document.versionID, state: state)
                counter += 1
                let change = Change(
                    kind: .owned, author: device, counter: counter,
                    stamp: Stamp(milliseconds: 1), collection: Receipt.replicatedCollection,
                    document: Change.ownedDocument(
                        of: device, in: Receipt.replicatedCollection, seed: receipt.seed),
                    version: version, seed: receipt.seed, body: receipt.cbor)
                let part = ReceivedPart(
                    batch: author.batch([change], in: space), changes: [change])
                _ = try await store.write { try $0.receive([part], upTo: nil, from: device) }
            }
            var own: [OwnedDocument] = []
            for number in 0..<4 {
                let seed = seed(number)
                own.append(
                    try await store.write {
                        try $0.put(seed: seed, in: Self.collection, fields: [:])
                    })
            }
            let first = own[0]
            try await state(first, .delivered, 1)
            try await state(own[0], .refused(reason: "type-refused"), 2)
            try await state(own[1], .refused(reason: "too-large"), 1)
            try await state(own[2], .notWanted, 1)
            try await store.write { (transaction) throws in
                let tally = try #require(try transaction.tallies(of: Self.collection)[device])
                #expect(tally.delivered == 1 && tally.refused == 1 && tally.notWanted == 1)
                #expect(try transaction.ownDocumentCount(in: Self.collection) == 4)
                let receipts = try transaction.receipts(for: first)
                #expect(receipts[device]?.state == .delivered)
            }
        }
    }

    @Test func `in another space own documents are signed anew and those of others are gone`()
        async throws
    {
        try await withStore { store, key, _ in
            let old = try await store.write {
                try $0.makeTicket(role: .member, uses: 1, lifetimeSeconds: 9, addresses: [])
            }
            let first = await store.space
            var author = try Author()
            let device = author.device
            try await store.write { try $0.admit(device, as: .member) }
            let change = author.change(seed(1))
            let part = ReceivedPart(batch: author.batch([change], in: first), changes: [change])
            _ = try await store.write { try $0.receive([part], upTo: nil, from: device) }
            let seed = seed(2)
            let own = try await store.write {
                try $0.put(seed: seed, in: Self.collection, fields: [:])
            }
            #expect(try await documents(store).count == 2)
            try await store.write { try $0.leaveSpace() }
            #expect(try await documents(store).map(\.id) == [own.id])
            #expect(try await store.write { try $0.members() }.isEmpty)
            _ = try await store.write {
                try $0.makeTicket(role: .member, uses: 1, lifetimeSeconds: 9, addresses: [])
            }
            let second = await store.space
            #expect(second != first)
            let pages = try await store.write {
                try $0.changes(after: 0, for: device, since: 0)
            }
            for part in pages.flatMap(\.parts) {
                let batch = try SignedBatch(header: part.header, signature: part.signature)
                #expect(batch.space == second)
                for bytes in part.changes {
                    #expect(batch.hashes.contains(try Change(bytes: bytes).hash))
                }
            }
            // A ticket of the space before lets nobody into this one.
            let answer = try await store.write {
                try $0.redeemTicket(secret: old.secret, for: device)
            }
            #expect(answer == .ticketUnknown)
        }
    }

    @Test func `a device removed since does not come in by the ticket it used`() async throws {
        try await withStore { store, _, _ in
            let ticket = try await store.write {
                try $0.makeTicket(role: .member, uses: 5, lifetimeSeconds: 99, addresses: [])
            }
            let joiner = DeviceID(Digest(hashing: [1]))
            for _ in 0..<2 {
                let answer = try await store.write {
                    try $0.redeemTicket(secret: ticket.secret, for: joiner)
                }
                #expect(answer == nil)
            }
            #expect(try await store.write { try $0.tickets() }.map(\.uses) == [4])
            try await store.write { try $0.removeMember(joiner) }
            let answer = try await store.write {
                try $0.redeemTicket(secret: ticket.secret, for: joiner)
            }
            #expect(answer == .ticketUsedUp)
            #expect(await !store.membership.isMember(joiner))
        }
    }

    private func bytes(of path: BytePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
        return try file.read(count: Int(file.status().size), at: 0)
    }

    @Test func `a store of a later version is refused and left as it is`() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("chute.db")
            let key = try DeviceKey.generate()
            _ = try StoreWriter(path: path, key: key, sharedKey: nil)
            do {
                let connection = try Connection(path: path)
                try connection.execute("PRAGMA user_version = \(Schema.version + 1)")
                try connection.checkpoint()
            }
            let before = try bytes(of: path)
            do {
                _ = try StoreWriter(path: path, key: key, sharedKey: nil)
                Issue.record("it was opened")
            } catch let error as ChuteError { #expect(error.code == .storeIsNewer) }
            #expect(try bytes(of: path) == before)
        }
    }

    @Test func `a file that is no store is refused and left as it is`() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("chute.db")
            let garbage = Array("this is somebody's letter, not a database. ".utf8) + [0, 1, 2]
            let file = try FileDescriptor.open(path, FileDescriptor.readWriteCreate)
            try file.write(garbage, at: 0)
            do {
                _ = try StoreWriter(path: path, key: try DeviceKey.generate(), sharedKey: nil)
                Issue.record("it was opened")
            } catch let error as ChuteError { #expect(error.code == .storeIsDamaged) }
            #expect(try bytes(of: path) == garbage)
        }
    }

    @Test func `who has the lock for longer than a look takes ends nothing`() async throws {
        try await withStore { store, _, path in
            // As a command that is stopped in the middle of asking.
            let other = try Connection(path: path, mode: .readWrite)
            try other.execute("BEGIN IMMEDIATE")
            let writing = Task {
                try await store.write {
                    try $0.put(seed: seed(1), in: Self.collection, fields: ["n": .integer(1)])
                }
            }
            // Longer than the busy timeout of the store.
            try await Task.sleep(for: .milliseconds(2500))
            try other.execute("COMMIT")
            _ = try await writing.value
            #expect(try await documents(store).count == 1)

            // Who is told to end does not wait for ever.
            try other.execute("BEGIN IMMEDIATE")
            let given = Task { try await store.write { _ in } }
            given.cancel()
            await #expect(throws: SQLiteError.self) { try await given.value }
            try other.execute("ROLLBACK")
        }
    }

    private struct Row: LocalRow, Equatable {
        static let collection = "rows"
        let key: [UInt8]
        var color: String
        static let isIndexed = true
        var indexes: [RowIndex] { [RowIndex("color", Array(color.utf8))] }
        var fields: Fields { ["key": .bytes(key), "color": .string(color)] }

        init(_ key: UInt8, _ color: String) { (self.key, self.color) = ([key], color) }

        init(fields: Fields) throws {
            key = fields["key"]?.bytes ?? []
            color = fields["color"]?.string ?? ""
        }
    }

    @Test func `local rows are found by key and by index, also after a change`() async throws {
        try await withStore { store, _, _ in
            try await store.write { transaction in
                for number in 1...5 { try transaction.put(Row(UInt8(number), "red")) }
                try transaction.put(Row(2, "blue"))
                try transaction.remove(Row.self, [5])
                try transaction.remove(Row.self, [9])
            }
            try await store.write { (transaction) throws in
                #expect(try transaction.row(Row.self, [2]) == Row(2, "blue"))
                #expect(try transaction.row(Row.self, [5]) == nil)
                #expect(try transaction.rows(Row.self).map(\.key) == [[1], [2], [3], [4]])
                #expect(try transaction.rows(Row.self, after: [2], limit: 1).map(\.key) == [[3]])
                let red = try transaction.rows(
                    Row.self, where: "color", is: Array("red".utf8))
                #expect(red.map(\.key) == [[1], [3], [4]])
                #expect(try transaction.count(Row.self) == 4)
                #expect(
                    try transaction.counts(Row.self, by: "color") == [
                        Array("red".utf8): 3, Array("blue".utf8): 1,
                    ])
            }
        }
    }
}

extension AttachmentID {
    /// Only to have no optional in a table of tests.
    fileprivate static var none: AttachmentID { preconditionFailure("a small count") }
}
