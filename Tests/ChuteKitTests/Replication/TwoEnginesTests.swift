import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(3)))
struct TwoEnginesTests {
    @Test func `documents go both ways, and receipts back`() async throws {
        try await withTwoEngines { one, two in
            let first = try await one.share([1], as: "a")
            let second = try await two.share([2], as: "b")
            try await two.awaitDocument(first)
            try await one.awaitDocument(second)
            try await two.chute.store.write {
                try $0.state(
                    Receipt(
                        collection: TestEngine.collection, document: first.id,
                        version: first.versionID, state: .delivered))
            }
            try await eventually("the receipt") {
                try await one.chute.store.read { try $0.receipts(for: first) }[two.chute.device]?
                    .state == .delivered
            }
        }
    }

    @Test(arguments: [0, 1, 16_384, 1 << 20 - 1, 1 << 20, 1 << 20 + 1, 5_000_001])
    func `an attachment of any size is fetched byte for byte`(_ size: Int) async throws {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: UInt64(size))
            let bytes = random.bytes(size)
            let document = try await one.share(bytes, as: "photo")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await two.want(id, to: "staged", from: one.chute.device)
            try await two.awaitFetched(1)
            #expect(try two.read("staged") == bytes)
        }
    }

    /// So large that its pieces go past the page cache, but for the last one, which is no whole
    /// number of pages.
    @Test func `a large attachment is fetched byte for byte, also to a second place`()
        async throws
    {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 64)
            let bytes = random.bytes((64 << 20) + 12_345)
            let document = try await one.share(bytes, as: "film")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await two.want(id, to: "staged", from: one.chute.device)
            try await two.want(id, to: "copy", from: one.chute.device)
            try await two.awaitFetched(2)
            #expect(try two.read("staged") == bytes)
            #expect(try two.read("copy") == bytes)
        }
    }

    @Test(arguments: [false, true])
    func `bytes that changed without a trace are noticed by who gets them`(
        _ isOwned: Bool
    ) async throws {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 10)
            let bytes = random.bytes(2_200_000)
            let document = try await one.share(bytes, as: "good")
            let id = try #require(document["token"]?.attachmentToken?.id)
            // As after a store through a mapping: fingerprint and length are as recorded.
            var wrong = bytes
            wrong[1_500_000] ^= 1
            try one.write(wrong, to: "wrong")
            let status = try #require(try Folder(at: one.files).status(of: "wrong"))
            let root = one.root
            let location = Location(
                root: root, path: "wrong", fingerprint: FileFingerprint(status).encoded,
                isOwned: isOwned)
            try await one.chute.store.write {
                try $0.removeLocation(root: root, path: "good")
                try $0.addLocation(location, of: id)
            }
            try await two.awaitDocument(document)
            try await two.want(id, to: "got", from: one.chute.device)
            try await eventually("the wrong file is forgotten") {
                try await one.chute.store.read { try $0.locations(of: id) }.isEmpty
            }
            try await one.hold("good")
            try await two.awaitFetched(1)
            #expect(try two.read("got") == bytes)
            #expect(!two.said.contains { $0.contains("again: it is not asked") })
        }
    }

    @Test func `a sample is the first piece alone, and the rest goes on from there`() async throws {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 31)
            let bytes = random.bytes(3_500_000)
            let document = try await one.share(bytes, as: "film")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await two.want(id, to: "staged", from: one.chute.device, part: .sample)
            try await two.want(id, to: "other", from: one.chute.device)
            try await two.awaitFetched(1, as: .sampled)
            #expect(try two.read("staged") == Array(bytes.prefix(1 << 20)))
            // Who wants all of it does not wait for what becomes of the sample.
            try await two.awaitFetched(1)
            #expect(try two.read("other") == bytes)
            try await two.want(id, to: "staged", from: one.chute.device, part: .rest)
            try await two.awaitFetched(1)
            #expect(try two.read("staged") == bytes)
        }
    }

    @Test func `a sample of what has one piece is all of it`() async throws {
        try await withTwoEngines { one, two in
            let document = try await one.share([1, 2, 3], as: "small")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await two.want(id, to: "staged", from: one.chute.device, part: .sample)
            try await two.awaitFetched(1)
            #expect(try two.read("staged") == [1, 2, 3])
        }
    }

    @Test func `several wants of one attachment each get a file`() async throws {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 3)
            let bytes = random.bytes(3_000_000)
            let document = try await one.share(bytes, as: "photo")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            for name in ["a", "b", "c"] as [BytePath] { try await two.want(id, to: name) }
            try await two.awaitFetched(3)
            for name in ["a", "b", "c"] as [BytePath] { #expect(try two.read(name) == bytes) }
        }
    }

    @Test(arguments: [100, 5_000_001])
    func `a want whose folder was removed does not hold up another one of the same bytes`(
        _ size: Int
    ) async throws {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 4)
            let bytes = random.bytes(size)
            let document = try await one.share(bytes, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            let (root, source) = (two.root, one.chute.device)
            try await two.awaitDocument(document)
            try await two.chute.store.write {
                _ = try $0.want(id, root: root, path: "removed/got", from: source)
                _ = try $0.want(id, root: root, path: "got", from: source)
            }
            // Long before what cannot be written is tried again.
            let fetched = try await two.awaitFetched(1, within: .seconds(15))
            #expect(fetched.map(\.want.path) == ["got"])
            #expect(try two.read("got") == bytes)
        }
    }

    @Test func `a thousand small files and a big one come together`() async throws {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 5)
            let big = random.bytes(20_000_000)
            let document = try await one.share(big, as: "big")
            var small: [BytePath: [UInt8]] = [:]
            for number in 0..<300 {
                let name = BytePath("small \(number)")
                small[name] = random.bytes(20_000)
                try await one.share(small[name] ?? [], as: name)
            }
            try await eventually("all documents") { try await two.documents().count == 301 }
            for document in try await two.documents() {
                let id = try #require(document["token"]?.attachmentToken?.id)
                let name = BytePath(bytes: try #require(document["path"]?.bytes))
                try await two.want(id, to: name, from: document.origin)
            }
            try await two.awaitFetched(301)
            for (name, bytes) in small { #expect(try two.read(name) == bytes) }
            #expect(try two.read("big") == big)
            _ = document
        }
    }

    @Test func `what lies here already needs no peer`() async throws {
        try await withTwoEngines { one, two in
            await one.stop()
            var random = SeededGenerator(seed: 4)
            let bytes = random.bytes(2_500_000)
            let document = try await two.share(bytes, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await two.want(id, to: "copy")
            try await two.awaitFetched(1)
            #expect(try two.read("copy") == bytes)
        }
    }

    @Test func `a file edited after it was shared is never delivered as what it was`() async throws
    {
        try await withTwoEngines { one, two in
            var random = SeededGenerator(seed: 6)
            var bytes = random.bytes(3_000_000)
            let document = try await one.share(bytes, as: "photo")
            try await two.awaitDocument(document)
            bytes[2_000_000] ^= 1
            try one.write(bytes, to: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            try await two.want(id, to: "staged", from: one.chute.device)
            try await eventually("the edited file is forgotten") {
                try await one.chute.store.read { try $0.locations(of: id) }.isEmpty
            }
            // The bytes come back elsewhere: then they arrive.
            bytes[2_000_000] ^= 1
            try one.write(bytes, to: "again")
            try await one.hold("again")
            try await two.awaitFetched(1)
            #expect(try two.read("staged") == bytes)
        }
    }
}
