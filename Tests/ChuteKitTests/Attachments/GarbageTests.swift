import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(3)))
struct GarbageTests {
    @Test func `what no document names goes after its grace, what one names or a pin keeps stays`()
        async throws
    {
        try await withEngine { engine, _ in
            let chute = engine.chute
            let named = try await engine.pictures.newAttachment(bytes: [1])
            let document = try await engine.name(named.token)
            let pinned = try await engine.pictures.newAttachment(bytes: [2, 2])
            try await chute.pin(pinned.token)
            let loose = try await engine.pictures.newAttachment(bytes: [3, 3, 3])
            #expect(try await chute.collectGarbage().attachments.isEmpty)
            let dry = try await chute.collectGarbage(dryRun: true, grace: .zero)
            #expect(dry.attachments == [loose.id])
            #expect(dry.byteCount == 3)
            #expect(try await loose.data() == [3, 3, 3])
            #expect(try await chute.collectGarbage(grace: .zero).attachments == [loose.id])
            #expect(try engine.blobNames().count == 2)
            #expect(try await named.data() == [1])
            try await engine.unname(document)
            try await chute.unpin(pinned.token)
            let rest = try await chute.collectGarbage(grace: .zero)
            #expect(Set(rest.attachments) == [named.id, pinned.id])
            #expect(try engine.blobNames().isEmpty)
        }
    }

    /// Its file is gone: a crash before the document was written must not lose the only bytes.
    @Test func `bytes that were moved in stay until a document has named them`() async throws {
        try await withEngine { engine, folder in
            let chute = engine.chute
            let path = folder.appending("photo")
            try SampleFiles.write([1, 2, 3], to: path)
            let moved = try await engine.pictures.newAttachment(path: path, mode: .move)
            #expect(try await chute.collectGarbage(grace: .zero).attachments.isEmpty)
            #expect(try await moved.data() == [1, 2, 3])
            let document = try await engine.name(moved.token)
            #expect(try await chute.collectGarbage(grace: .zero).attachments.isEmpty)
            try await engine.unname(document)
            #expect(try await chute.collectGarbage(grace: .zero).attachments == [moved.id])
        }
    }

    @Test func `files of users are never touched`() async throws {
        try await withEngine { engine, _ in
            try engine.write([1, 2], to: "theirs")
            try await engine.hold("theirs", isOwned: true)
            try SampleFiles.write([7], to: engine.blobs.appending("a note"))
            #expect(try await engine.chute.collectGarbage(grace: .zero).attachments.isEmpty)
            #expect(try engine.read("theirs") == [1, 2])
            #expect(try engine.blobNames() == ["a note"])
        }
    }

    @Test func `taking in and collecting the same bytes at once never loses what was given out`()
        async throws
    {
        try await withEngine { engine, _ in
            let (pictures, chute) = (engine.pictures, engine.chute)
            for round in 0..<20 {
                let bytes = [UInt8(round)]
                let kept = try await withThrowingTaskGroup(of: ChuteKit.Attachment?.self) { group in
                    for index in 0..<8 {
                        group.addTask {
                            if index % 2 == 0 {
                                return try await pictures.newAttachment(bytes: bytes)
                            }
                            try await chute.collectGarbage(grace: .milliseconds(500))
                            return nil
                        }
                    }
                    return try await group.compactMap(\.self).reduce(into: []) { $0.append($1) }
                }
                for attachment in kept { #expect(try await attachment.data() == bytes) }
            }
        }
    }

    @Test func `rows about pieces and signatures of nothing go, and what is left still replicates`()
        async throws
    {
        try await withTwoEngines { one, two in
            let big = try await one.pictures.newAttachment(
                bytes: Array(repeating: 1, count: 2_000_000))
            let first = try await one.name(big.token, as: "first")
            try await one.unname(first)
            let second = try await one.name(
                try await one.pictures.newAttachment(bytes: [5]).token, as: "second")
            let report = try await one.chute.collectGarbage(grace: .zero)
            #expect(report.attachments == [big.id])
            #expect(report.rowCount >= 1)
            let later = try await one.share([1], as: "later")
            for document in [second, later] { try await two.awaitDocument(document) }
            let layer = try await one.chute.store.read { try $0.layer(of: big.id) }
            #expect(layer == nil)
        }
    }

    /// Opens the engine of a folder anew after `damage` was done to it.
    private func afterRestart(
        _ prepare: (TestEngine) async throws -> Void,
        _ check: (TestEngine) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let home = folder.appending("home")
            do {
                let engine = try await TestEngine(home, isRunning: false)
                try await prepare(engine)
                await engine.stop()
            }
            let engine = try await reopened(home)
            try await check(engine)
            await engine.stop()
        }
    }

    /// The lock goes with the last task that has the engine.
    private func reopened(_ home: BytePath) async throws -> TestEngine {
        var opened: TestEngine?
        try await eventually("the lock of \(home)") {
            do {
                opened = try await TestEngine(home, isRunning: false)
                return true
            } catch let error as ChuteError where error.code == .heldElsewhere { return false }
        }
        guard let opened else { throw NeverHappened(what: "opening") }
        return opened
    }

    @Test func `after a crash between publishing and recording, a named blob is taken in`()
        async throws
    {
        let bytes = [UInt8](repeating: 4, count: 1_500_000)
        try await afterRestart { engine in
            let attachment = try await engine.pictures.newAttachment(bytes: bytes)
            try await engine.name(attachment.token)
            try await engine.chute.store.write { transaction in
                for blob in try transaction.locations(of: attachment.id) {
                    try transaction.removeLocation(root: blob.root, path: blob.path)
                }
            }
            try SampleFiles.write([1], to: engine.blobs.appending("staging/in-0123"))
        } _: { engine in
            let token = try #require(try await engine.documents().first?["token"]?.attachmentToken)
            #expect(try await engine.pictures.attachment(for: token).data() == bytes)
            #expect(try engine.blobNames(in: "staging").isEmpty)
        }
    }

    @Test func `a blob that nobody recorded and nothing names goes`() async throws {
        try await afterRestart { engine in
            let attachment = try await engine.pictures.newAttachment(bytes: [1, 2])
            try await engine.chute.store.write { transaction in
                for blob in try transaction.locations(of: attachment.id) {
                    try transaction.removeLocation(root: blob.root, path: blob.path)
                }
            }
        } _: { engine in
            let before = try engine.blobNames()
            #expect(before.count == 1)
            #expect(try await engine.chute.collectGarbage().attachments.isEmpty)
            #expect(try await engine.chute.collectGarbage(grace: .zero).attachments.count == 1)
            #expect(try engine.blobNames().isEmpty)
        }
    }

    @Test func `a blob that nobody recorded and a pin keeps is taken in, not collected`()
        async throws
    {
        try await afterRestart { engine in
            let attachment = try await engine.pictures.newAttachment(bytes: [1, 2])
            try await engine.chute.pin(attachment.token)
            try await engine.chute.store.write { transaction in
                for blob in try transaction.locations(of: attachment.id) {
                    try transaction.removeLocation(root: blob.root, path: blob.path)
                }
            }
        } _: { engine in
            #expect(try await engine.chute.collectGarbage(grace: .zero).attachments.isEmpty)
            #expect(try engine.blobNames().count == 1)
            let root = engine.chute.attachments.blobs.root
            let known = try await engine.chute.store.read { try $0.blobs(inRoot: root) }
            #expect(known.count == 1)
        }
    }

    @Test func `a row whose file is gone goes, and a damaged file without a row is set aside`()
        async throws
    {
        try await afterRestart { engine in
            let gone = try await engine.pictures.newAttachment(bytes: [1, 2])
            try await engine.name(gone.token, as: "gone")
            let wrong = try await engine.pictures.newAttachment(bytes: [3, 4])
            try await engine.name(wrong.token, as: "wrong")
            try await engine.chute.store.write { transaction in
                for blob in try transaction.locations(of: wrong.id) {
                    try transaction.removeLocation(root: blob.root, path: blob.path)
                }
            }
            let folder = try Folder(at: engine.blobs)
            try folder.remove(BytePath(gone.id.blobName))
            try folder.open(BytePath(wrong.id.blobName), O_RDWR).write([9], at: 0)
        } _: { engine in
            let rows = try await engine.chute.store.read { snapshot in
                try snapshot.documents(in: TestEngine.collection, learnedAfter: 0, limit: 10)
                    .compactMap { $0["token"]?.attachmentToken }.flatMap {
                        try snapshot.locations(of: $0.id)
                    }
            }
            #expect(rows.isEmpty)
            #expect(try engine.blobNames().isEmpty)
            #expect(try engine.blobNames(in: "damaged").count == 1)
        }
    }

    /// With too few open files every blob was set aside as damaged.
    @Test(arguments: [EMFILE, ENFILE, ENOMEM, EIO, EACCES, ENOENT])
    func `only what an error says of a file itself makes it damaged`(_ code: Int32) {
        let error = SystemError(code: code, call: "openat2", path: "blob")
        let found: String
        do {
            switch try BlobFolder.judge(error, "blobs") {
            case .missing: found = "missing"
            case .unreadable: found = "damaged"
            case .hashed: found = "sound"
            }
        } catch { found = error.isTransient ? "later" : "never" }
        let expected = [ENOENT: "missing", EIO: "damaged", EACCES: "damaged"]
        #expect(found == expected[code, default: "later"])
    }

    @Test func `verifying sets aside what is damaged, and nothing else suffers`() async throws {
        try await withEngine { engine, _ in
            let good = try await engine.pictures.newAttachment(bytes: [1, 2, 3])
            let bad = try await engine.pictures.newAttachment(bytes: [4, 5, 6])
            let gone = try await engine.pictures.newAttachment(bytes: [7])
            for each in [good, bad, gone] { try await engine.name(each.token, as: "\(each.id)") }
            let folder = try Folder(at: engine.blobs)
            try folder.open(BytePath(bad.id.blobName), O_RDWR).write([9], at: 1)
            try folder.remove(BytePath(gone.id.blobName))
            let report = try await engine.chute.verify()
            #expect(report.soundCount == 1)
            #expect(report.soundByteCount == 3)
            #expect(report.damaged == [bad.id])
            #expect(report.missing == [gone.id])
            #expect(try await good.data() == [1, 2, 3])
            #expect(try await code { try await bad.data() } == .absent)
            #expect(try engine.blobNames(in: "damaged").count == 1)
            // Taken in again, it is as good as new.
            #expect(
                try await engine.pictures.newAttachment(bytes: [4, 5, 6]).data() == [4, 5, 6])
            #expect(try await engine.chute.verify().damaged.isEmpty)
        }
    }

    @Test func `what lies on disk is told by its kind`() async throws {
        try await withEngine { engine, _ in
            let before = try await engine.chute.diskUsage()
            _ = try await engine.pictures.newAttachment(
                bytes: Array(repeating: 1, count: 1_000_000))
            let after = try await engine.chute.diskUsage()
            #expect(after.attachments >= before.attachments + 1_000_000)
            #expect(after.database > 0)
            #expect(
                after.total
                    == after.database + after.writeAheadLog + after.attachments + after.staging
                    + after.damaged + after.other)
        }
    }

    @Test func `no attachment is damaged because the process has no file to open left`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                let engine = try await TestEngine(folder.appending("home"), isRunning: false)
                let attachment = try await engine.pictures.newAttachment(bytes: [1, 2, 3])
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
                let found = try await code { try await engine.chute.verify() }
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                guard found == .file, try await attachment.data() == [1, 2, 3],
                    try await engine.chute.verify().soundCount == 1
                else { throw NeverHappened(what: "a sound attachment") }
                await engine.stop()
            }
        }
    }
}
