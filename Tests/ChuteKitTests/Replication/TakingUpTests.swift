import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Wants that were being taken up when replication ended.
@Suite(.timeLimit(.minutes(2)))
struct TakingUpTests {
    private let identity = Chute.Identity.sharedKey(.test())

    @Test func `a fault of the store lost the rest of a page of wants until the next opening`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let one = try await TestEngine(folder.appending("one"), identity: identity)
            let two = try await TestEngine(
                folder.appending("two"), identity: identity,
                connect: [try await one.address()], isRunning: false)
            var ids: [AttachmentID] = []
            for number in 0..<3 {
                let bytes = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &+ number) }
                let document = try await one.share(bytes, as: BytePath("f\(number)"))
                ids.append(try #require(document["token"]?.attachmentToken?.id))
            }
            for (number, id) in ids.enumerated() {
                try await two.want(id, to: BytePath("w\(number)"), from: one.chute.device)
            }
            let database = try Connection(path: two.home.appending("chute.db"))
            try database.execute("ALTER TABLE layers RENAME TO gone")
            await #expect(throws: (any Error).self) {
                try await two.chute.startSync()
                // It may have begun before it met the fault.
                try await eventually("it ended") { !two.chute.isSyncActive }
                throw ChuteError.closed
            }
            try database.execute("ALTER TABLE gone RENAME TO layers")
            try await two.chute.startSync()
            try await two.awaitFetched(3)
            for number in 0..<3 {
                #expect(try two.read(BytePath("w\(number)")) == one.read(BytePath("f\(number)")))
            }
            try await two.chute.close()
            await one.stop()
        }
    }

    @Test func `a stop waited until all that lies on own disk had been copied`() async throws {
        try await withTemporaryDirectory { folder in
            let engine = try await TestEngine(
                folder.appending("a"), identity: identity, isRunning: false)
            var random = SeededGenerator(seed: 3)
            let bytes = random.bytes(4 << 20)
            try engine.write(bytes, to: "film")
            let id = try await engine.hold("film")
            let count = 48
            for number in 0..<count { try await engine.want(id, to: BytePath("w\(number)")) }

            try await engine.chute.startSync()
            var done = await engine.chute.fetched().count
            await engine.chute.stopSync()
            // What was reported until now: nothing copies any more.
            done += engine.chute.fetcher.outcomes.drain().count
            #expect(done > 0)
            withKnownIssue("a starved machine stops after the last one", isIntermittent: true) {
                #expect(done < count)
            }

            try await engine.chute.startSync()
            if done < count { try await engine.awaitFetched(count - done) }
            for number in 0..<count { #expect(try engine.read(BytePath("w\(number)")) == bytes) }
            try await engine.chute.close()
        }
    }

    @Test func `a stop waited until all that an earlier run had staged was hashed`() async throws {
        try await withTemporaryDirectory { folder in
            let engine = try await TestEngine(
                folder.appending("a"), identity: identity, isRunning: false)
            var random = SeededGenerator(seed: 4)
            let bytes = random.bytes(4 << 20)
            var ids: [AttachmentID] = []
            let root = engine.root
            let count = 24
            for number in 0..<count {
                // The hashes are known, but nothing says that the bytes are here.
                let name = BytePath("w\(number)")
                let different = [UInt8(number)] + bytes
                try engine.write(different, to: name)
                let id = try await engine.hold(name)
                let locations = try await engine.chute.store.read { try $0.locations(of: id) }
                try await engine.chute.store.write {
                    for location in locations {
                        try $0.removeLocation(
                            root: root, path: name, fingerprint: location.fingerprint)
                    }
                }
                ids.append(id)
            }
            for (number, id) in ids.enumerated() {
                try await engine.want(id, to: BytePath("w\(number)"))
            }
            try await engine.chute.startSync()
            var done = await engine.chute.fetched().count
            await engine.chute.stopSync()
            done += engine.chute.fetcher.outcomes.drain().count
            #expect(done > 0)
            withKnownIssue("a starved machine stops after the last one", isIntermittent: true) {
                #expect(done < count)
            }

            // Nobody else has the bytes: they are found where they are.
            try await engine.chute.startSync()
            if done < count { try await engine.awaitFetched(count - done) }
            try await engine.chute.close()
        }
    }
}
