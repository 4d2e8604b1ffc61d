import ChuteSystem
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(3)))
struct FetchTests {
    /// Takes bytes in at `one`, names them, and waits until `two` knows the document.
    private func share(
        _ bytes: [UInt8], from one: TestEngine, to two: TestEngine, as name: String = "picture"
    ) async throws -> AttachmentToken {
        let attachment = try await one.pictures.newAttachment(
            bytes: bytes, metadata: ["filename": name])
        try await two.awaitDocument(try await one.name(attachment.token, as: name))
        return attachment.token
    }

    private func check(_ events: [FetchEvent], of token: AttachmentToken) {
        #expect(events.filter(\.isTerminal).count == 1)
        #expect(events.last?.isTerminal == true)
        var last: UInt64 = 0
        for case .progress(let done, let total) in events {
            #expect(total == token.len && done >= last && done <= total)
            last = done
        }
    }

    @Test(arguments: ImportTests.sizes)
    func `an attachment of any size is fetched, with progress to its end`(
        _ size: Int
    ) async throws {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: UInt64(size))
            let bytes = random.bytes(size)
            let token = try await share(bytes, from: one, to: two)
            let events = try await allEvents(of: two.pictures.fetch(token))
            check(events, of: token)
            guard case .completed(let attachment)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(events.contains(.progress(downloadedBytes: token.len, totalBytes: token.len)))
            #expect(attachment.token == token)
            #expect(try await attachment.data() == bytes)
            #expect(two.chute.fetchProgress.fractionCompleted == 1)
            #expect(two.chute.fetchProgress.activeCount == 0)
            let wants = try await two.chute.store.read { try $0.wantTotals().count }
            #expect(wants == 0)
            #expect(try two.blobNames(in: "staging").isEmpty)
            #expect(try await two.chute.holders(of: token) == [one.chute.device])
        }
    }

    /// As an application does it: a document that anybody may write names the attachment.
    @Test func `who fetched it says so, and is named among the holders`() async throws {
        try await withTwoEngines { one, two in
            let photo = try await one.pictures.newAttachment(bytes: [1, 2, 3])
            let id = try await one.pictures.insert([
                "image": .attachment(photo), "mimeType": "image/jpeg",
            ])
            try await eventually("the document") {
                try await two.pictures.findByID(id).exec() != nil
            }
            let document = try #require(try await two.pictures.findByID(id).exec())
            let token = try #require(document["image"].attachmentToken)
            let fetched = try await two.pictures.attachment(for: token)
            #expect(try await fetched.data() == [1, 2, 3])
            try await eventually("the receipt") {
                try await one.chute.holders(of: token) == [two.chute.device]
            }
            _ = try await one.pictures.findByID(id).remove()
            try await eventually("removed") { try await two.pictures.findByID(id).exec() == nil }
            #expect(try await two.chute.collectGarbage(grace: .zero).attachments == [token.id])
            #expect(try await allEvents(of: two.pictures.fetch(token)) == [.deleted])
        }
    }

    @Test(arguments: [0, 3, 3_000_000])
    func `what is here is completed at once, without any network`(_ size: Int) async throws {
        try await withEngine { engine, _ in
            let attachment = try await engine.pictures.newAttachment(
                bytes: Array(repeating: 7, count: size))
            let events = try await allEvents(of: engine.pictures.fetch(attachment.token))
            #expect(
                events == [
                    .progress(downloadedBytes: UInt64(size), totalBytes: UInt64(size)),
                    .completed(attachment),
                ])
        }
    }

    @Test func `what no document names, or names no more, is deleted`() async throws {
        try await withEngine { engine, _ in
            let id = try #require(AttachmentID(digest: Digest(hashing: [1]), byteCount: 10))
            let token = AttachmentToken(id: id)
            let unknown = try await allEvents(of: engine.pictures.fetch(token))
            #expect(unknown == [.deleted])
            let document = try await engine.name(token)
            let fetched = try await withThrowingTaskGroup(of: [FetchEvent].self) { group in
                group.addTask { try await allEvents(of: engine.pictures.fetch(token)) }
                try await eventually("the want") {
                    try await engine.chute.store.read { try $0.wantTotals().count } == 1
                }
                try await engine.unname(document)
                return try await group.next() ?? []
            }
            #expect(fetched.last == .deleted)
            check(fetched, of: token)
            try await eventually("no want") {
                try await engine.chute.store.read { try $0.wantTotals().count } == 0
            }
        }
    }

    @Test func `with nobody there it is stalled and names the holder, and goes on once one comes`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let one = try await TestEngine(
                folder.appending("one"), identity: .sharedKey(.test()))
            let proxy = try FaultyProxy(to: try await one.address(), faults: .init())
            let two = try await TestEngine(
                folder.appending("two"), identity: .sharedKey(.test()), connect: [proxy.address])
            var random = SeededGenerator(seed: 5)
            let token = try await share(random.bytes(3_000_000), from: one, to: two)
            proxy.set(.init(cutAfter: 0))
            await proxy.stop()
            try await eventually("not connected") { try await !two.isConnected(to: one) }
            let seen = Mutex<[FetchEvent]>([])
            try two.pictures.fetchAttachment(token: token) { event in
                seen.withLock { $0.append(event) }
            }
            try await eventually("stalled") {
                seen.withLock { $0 }.contains(.stalled(holders: [one.chute.device]))
            }
            let three = try await TestEngine(
                folder.appending("three"), identity: .sharedKey(.test()),
                connect: [try await one.address(), try await two.address()])
            try await three.awaitConnection(to: two)
            _ = try await three.pictures.attachment(for: token)
            try await eventually("completed") { seen.withLock { $0 }.last?.isTerminal == true }
            let events = seen.withLock { $0 }
            check(events, of: token)
            if case .completed? = events.last {} else { Issue.record("\(events)") }
            for engine in [one, two, three] { await engine.stop() }
        }
    }

    @Test func `a connection that is cut in the middle costs nothing but time`() async throws {
        try await withTemporaryDirectory { folder in
            let one = try await TestEngine(
                folder.appending("one"), identity: .sharedKey(.test()))
            let proxy = try FaultyProxy(
                to: try await one.address(), faults: .init(cutAfter: 3_000_000))
            let two = try await TestEngine(
                folder.appending("two"), identity: .sharedKey(.test()), connect: [proxy.address])
            var random = SeededGenerator(seed: 6)
            let bytes = random.bytes(8_000_000)
            let token = try await share(bytes, from: one, to: two)
            let events = try await allEvents(of: two.pictures.fetch(token))
            check(events, of: token)
            #expect(proxy.connectionCount > 1)
            guard case .completed(let attachment)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(try await attachment.data() == bytes)
            await proxy.stop()
            await one.stop()
            await two.stop()
        }
    }

    @Test func `many fetches share one transfer, and one that is cancelled leaves the others`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let one = try await TestEngine(
                folder.appending("one"), identity: .sharedKey(.test()))
            let proxy = try FaultyProxy(
                to: try await one.address(), faults: .init(holdAfter: 3_000_000))
            let two = try await TestEngine(
                folder.appending("two"), identity: .sharedKey(.test()), connect: [proxy.address])
            var random = SeededGenerator(seed: 7)
            let bytes = random.bytes(5_000_000)
            let token = try await share(bytes, from: one, to: two)
            let seen = Mutex<[Int: [FetchEvent]]>([:])
            let fetchers = try (0..<5).map { index in
                try two.pictures.fetchAttachment(token: token) { event in
                    seen.withLock { $0[index, default: []].append(event) }
                }
            }
            try await eventually("one transfer") { two.chute.transfers().count == 1 }
            fetchers[0].cancel()
            fetchers[1].cancel()
            fetchers[1].cancel()
            try await eventually("two are cancelled") {
                seen.withLock { seen in [0, 1].allSatisfy { seen[$0]?.last == .cancelled } }
            }
            let wants = try await two.chute.store.read { try $0.wantTotals().count }
            #expect(wants == 1)
            proxy.set(.init())
            try await eventually("the others complete") {
                seen.withLock { seen in [2, 3, 4].allSatisfy { seen[$0]?.last?.isTerminal == true }
                }
            }
            for (index, events) in seen.withLock({ $0 }) {
                check(events, of: token)
                guard index > 1 else { continue }
                guard case .completed(let attachment)? = events.last else {
                    Issue.record("\(events)")
                    continue
                }
                #expect(try await attachment.data() == bytes)
            }
            #expect(proxy.downCount < 2 * bytes.count)
            await proxy.stop()
            await one.stop()
            await two.stop()
        }
    }

    @Test
    func `the last cancel takes the want back, and a later fetch goes on, also after a restart`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let one = try await TestEngine(
                folder.appending("one"), identity: .sharedKey(.test()))
            let proxy = try FaultyProxy(
                to: try await one.address(), faults: .init(holdAfter: 6_000_000))
            let home = folder.appending("two")
            var random = SeededGenerator(seed: 9)
            let bytes = random.bytes(12_000_000)
            let token: AttachmentToken
            do {
                let two = try await TestEngine(
                    home, identity: .sharedKey(.test()), connect: [proxy.address])
                token = try await share(bytes, from: one, to: two)
                let fetch = try two.pictures.fetchAttachment(token: token) { _ in }
                try await eventually("some pieces") {
                    two.chute.fetchProgress.downloadedBytes >= 3 << 20
                }
                fetch.cancel()
                try await eventually("no want") {
                    try await two.chute.store.read { try $0.wantTotals().count } == 0
                }
                #expect(two.chute.fetchProgress.activeCount == 0)
                #expect(try two.blobNames(in: "staging").count == 1)
                await two.stop()
            }
            proxy.set(.init())
            let before = proxy.downCount
            var again: TestEngine?
            try await eventually("the lock") {
                do {
                    again = try await TestEngine(
                        home, identity: .sharedKey(.test()), connect: [proxy.address])
                    return true
                } catch let error as ChuteError where error.code == .heldElsewhere {
                    return false
                }
            }
            let two = try #require(again)
            #expect(try await two.pictures.attachment(for: token).data() == bytes)
            #expect(proxy.downCount - before < bytes.count - (2 << 20))
            await proxy.stop()
            await one.stop()
            await two.stop()
        }
    }

    @Test func `a fetch that is left or whose task is cancelled ends, and says so`() async throws {
        try await withEngine { engine, _ in
            let id = try #require(AttachmentID(digest: Digest(hashing: [2]), byteCount: 10))
            let token = AttachmentToken(id: id)
            try await engine.name(token)
            let pictures = engine.pictures
            let task = Task { try await allEvents(of: pictures.fetch(token)) }
            try await eventually("the want") {
                try await engine.chute.store.read { try $0.wantTotals().count } == 1
            }
            task.cancel()
            let seen = try await task.value
            #expect(seen.last == .cancelled)
            check(seen, of: token)
            for try await event in pictures.fetch(token) {
                if case .stalled = event { break }
            }
            try await eventually("no want") {
                try await engine.chute.store.read { try $0.wantTotals().count } == 0
            }
        }
    }

    /// At every `await` there is: after 0, 1, 2... steps of the scheduler.
    @Test func `a task that is cancelled at any moment still gets one terminal event`() async throws
    {
        try await withEngine { engine, _ in
            let id = try #require(AttachmentID(digest: Digest(hashing: [3]), byteCount: 10))
            let token = AttachmentToken(id: id)
            try await engine.name(token)
            let here = try await engine.pictures.newAttachment(bytes: [1]).token
            let pictures = engine.pictures
            for steps in 0..<60 {
                for wanted in [token, here] {
                    let task = Task { try await allEvents(of: pictures.fetch(wanted)) }
                    for _ in 0..<steps { await Task.yield() }
                    task.cancel()
                    check(try await task.value, of: wanted)
                }
            }
            try await eventually("no want") {
                try await engine.chute.store.read { try $0.wantTotals().count } == 0
            }
        }
    }

    @Test(arguments: [false, true])
    func `a callback may call back, cancel itself and close`(_ usesQueue: Bool) async throws {
        try await withEngine { engine, _ in
            let id = try #require(AttachmentID(digest: Digest(hashing: [4]), byteCount: 10))
            let token = AttachmentToken(id: id)
            try await engine.name(token)
            let here = try await engine.pictures.newAttachment(bytes: [1])
            let pictures = engine.pictures
            let seen = Mutex<[FetchEvent]>([])
            let own = Mutex<AttachmentFetcher?>(nil)
            let queue = usesQueue ? DispatchQueue(label: "test") : nil
            let fetcher = try pictures.fetchAttachment(token: token, deliverOn: queue) { event in
                seen.withLock { $0.append(event) }
                guard case .stalled = event else { return }
                _ = try? pictures.fetchAttachment(token: here.token, deliverOn: queue) { inner in
                    seen.withLock { $0.append(inner) }
                    guard case .completed = inner else { return }
                    own.withLock { $0 }?.cancel()
                    Task { await engine.chute.attachments.close() }
                }
            }
            own.withLock { $0 = fetcher }
            try await eventually("all is said") {
                seen.withLock { $0 }.count(where: \.isTerminal) == 2
            }
            #expect(seen.withLock { $0 }.contains(.completed(here)))
            try await eventually("closed") {
                try await code { try await pictures.newAttachment(bytes: [1]) } == .closed
            }
            #expect(throws: ChuteError.self) {
                try pictures.fetchAttachment(token: token) { _ in }
            }
        }
    }

    @Test func `closing ends what is fetched`() async throws {
        try await withEngine { engine, _ in
            let id = try #require(AttachmentID(digest: Digest(hashing: [5]), byteCount: 10))
            let token = AttachmentToken(id: id)
            try await engine.name(token)
            let pictures = engine.pictures
            let task = Task { try await allEvents(of: pictures.fetch(token)) }
            try await eventually("the want") {
                try await engine.chute.store.read { try $0.wantTotals().count } == 1
            }
            await engine.chute.attachments.close()
            let seen = try await task.value
            check(seen, of: token)
            if case .failed(let error)? = seen.last {
                #expect(error.code == .closed)
            } else {
                Issue.record("\(seen)")
            }
        }
    }

    @Test(.enabled(if: canMount, "needs root"))
    func `a disk that is full is said, and a later fetch completes`() async throws {
        try await withTmpfs("size=12m") { point in
            try await withTemporaryDirectory { folder in
                let one = try await TestEngine(
                    folder.appending("one"), identity: .sharedKey(.test()))
                let two = try await TestEngine(
                    point.appending("two"), identity: .sharedKey(.test()),
                    connect: [try await one.address()])
                var random = SeededGenerator(seed: 11)
                let bytes = random.bytes(6_000_000)
                let token = try await share(bytes, from: one, to: two)
                let filler = try FileDescriptor.open(
                    point.appending("filler"), FileDescriptor.readWriteCreate)
                let free = try FileSystemInfo.of(descriptor: filler.raw).freeBytes
                try filler.write(
                    Array(repeating: 1, count: Int(free) - 3_000_000), at: 0)
                let events = try await allEvents(of: two.pictures.fetch(token))
                check(events, of: token)
                if case .failed(let error)? = events.last {
                    #expect(error.code == .noSpace)
                    #expect(error.isTransient)
                } else {
                    Issue.record("\(events)")
                }
                try filler.truncate(to: 0)
                #expect(try await two.pictures.attachment(for: token).data() == bytes)
                await one.stop()
                await two.stop()
            }
        }
    }

    @Test func `wrong bytes are never completed, and the right ones are once somebody has them`()
        async throws
    {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 12)
            let bytes = random.bytes(2_500_000)
            let token = try await share(bytes, from: one, to: two)
            // Same length and, to `one`, still its own file.
            let file = try FileDescriptor.open(
                one.blobs.appending(token.id.blobName), FileDescriptor.readWrite)
            try file.write([bytes[2_000_000] ^ 1], at: 2_000_000)
            let pictures = two.pictures
            let task = Task { try await allEvents(of: pictures.fetch(token)) }
            try await eventually("the wrong file is noticed") {
                try await one.chute.store.read { try $0.locations(of: token.id) }.isEmpty
            }
            try await one.pictures.newAttachment(bytes: bytes).copy(to: one.home.appending("x"))
            let events = try await task.value
            check(events, of: token)
            guard case .completed(let attachment)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(try await attachment.data() == bytes)
        }
    }

    @Test func `what is on its way counts for the limit of all attachments`() async throws {
        try await withEngine { engine, _ in
            await engine.chute.limitAttachments(byteCount: 10)
            let tokens = (1...2).compactMap { number in
                AttachmentID(digest: Digest(hashing: [UInt8(number)]), byteCount: 8)
                    .map { AttachmentToken(id: $0) }
            }
            for token in tokens { try await engine.name(token, as: token.id.blobName) }
            let first = try engine.pictures.fetchAttachment(token: tokens[0]) { _ in }
            defer { first.cancel() }
            try await eventually("it is asked for") {
                try await engine.chute.store.read { try $0.wantTotals().count } == 1
            }
            let events = try await allEvents(of: engine.pictures.fetch(tokens[1]))
            guard case .failed(let error)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(error.code == .overQuota)
        }
    }
}
