import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(3)))
struct ImportTests {
    static let sizes = [0, 1, 16_383, 16_384, 16_385, 1 << 20 - 1, 1 << 20, 1 << 20 + 1, 5_000_001]

    @Test(arguments: sizes, [AttachmentImportMode.copy, .reflink, .move])
    func `a file of any size is taken in, and is what it was`(
        _ size: Int, _ mode: AttachmentImportMode
    ) async throws {
        try await withEngine { engine, folder in
            var random = SeededGenerator(seed: UInt64(size))
            let bytes = random.bytes(size)
            let path = folder.appending("photo")
            try SampleFiles.write(bytes, to: path)
            let attachment = try await engine.pictures.newAttachment(
                path: path, metadata: ["filename": "a.jpg"], mode: mode)
            #expect(attachment.len == UInt64(size))
            #expect(attachment.metadata == ["filename": "a.jpg"])
            #expect(try await attachment.data() == bytes)
            let isThere = try Folder(at: folder).status(of: "photo") != nil
            #expect(isThere == (mode != .move))
            #expect(try engine.blobNames() == [BytePath(attachment.id.blobName)])
            #expect(try engine.blobNames(in: "staging").isEmpty)
        }
    }

    @Test func `a file, bytes and a stream of the same bytes are one attachment and one blob`()
        async throws
    {
        try await withEngine { engine, folder in
            var random = SeededGenerator(seed: 3)
            let bytes = random.bytes(2_500_000)
            try SampleFiles.write(bytes, to: folder.appending("photo"))
            let byPath = try await engine.pictures.newAttachment(path: folder.appending("photo"))
            let byBytes = try await engine.pictures.newAttachment(bytes: bytes)
            let chunks = stride(from: 0, to: bytes.count, by: 99_999).map {
                Array(bytes[$0..<min($0 + 99_999, bytes.count)])
            }
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish()
            let byStream = try await engine.pictures.newAttachment(stream: stream)
            #expect(byPath == byBytes)
            #expect(byPath == byStream)
            #expect(try engine.blobNames().count == 1)
            #expect(try engine.blobNames(in: "staging").isEmpty)
        }
    }

    @Test func `the engine's own file of an attachment is never moved in`() async throws {
        try await withEngine { engine, _ in
            let pictures = engine.pictures
            let attachment = try await pictures.newAttachment(bytes: [1, 2, 3])
            await #expect {
                _ = try await attachment.withFile {
                    try await pictures.newAttachment(path: $0.path, mode: .move)
                }
            } throws: { ($0 as? ChuteError)?.code == .invalid }
            #expect(try await attachment.data() == [1, 2, 3])
        }
    }

    @Test func `many take in the same bytes at the same time`() async throws {
        try await withEngine { engine, _ in
            let pictures = engine.pictures
            let ids = try await withThrowingTaskGroup(of: AttachmentID.self) { group in
                for index in 0..<32 {
                    group.addTask {
                        try await pictures.newAttachment(bytes: [UInt8(index % 4)]).id
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 4)
            #expect(try engine.blobNames().count == 4)
        }
    }

    @Test func `what is no regular file is refused, and nothing waits for its other end`()
        async throws
    {
        try await withEngine { engine, folder in
            let pictures = engine.pictures
            try Folder(at: folder).makeFolder("folder")
            try SampleFiles.write([1], to: folder.appending("file"))
            let path = folder.appending("pipe")
            let pipe = path.withCString { mkfifo($0, 0o600) }
            try #require(pipe == 0)
            try makeSocket(at: folder.appending("socket"))
            let link = folder.appending("link")
            let linked = link.withCString { symlink("file", $0) }
            try #require(linked == 0)
            for name in ["folder", "pipe", "socket", "link"] as [BytePath] {
                for mode in [AttachmentImportMode.copy, .reflink, .move] {
                    #expect(
                        try await code {
                            try await pictures.newAttachment(
                                path: folder.appending(name), mode: mode)
                        } == .notRegularFile, "\(name)")
                }
            }
            #expect(
                try await code {
                    try await pictures.newAttachment(path: "/dev/null")
                } == .notRegularFile)
            #expect(try engine.blobNames().isEmpty)
        }
    }

    private func makeSocket(at path: BytePath) throws {
        let socket = FileDescriptor(
            owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError.current("bind", path) }
    }

    @Test func `a missing file and a path that is none are told apart`() async throws {
        try await withEngine { engine, folder in
            let pictures = engine.pictures
            #expect(
                try await code {
                    try await pictures.newAttachment(path: folder.appending("no"))
                } == .notFound)
            try SampleFiles.write([1], to: folder.appending("file"))
            #expect(
                try await code {
                    try await pictures.newAttachment(path: folder.appending("file/no"))
                } == .notFound)
            for path in [BytePath(bytes: []), BytePath(bytes: [0x61, 0, 0x62])] {
                #expect(
                    try await code { try await pictures.newAttachment(path: path) } == .invalid)
            }
        }
    }

    @Test
    func `metadata of over 64 KiB and reserved collections are refused before a byte is read`()
        async throws
    {
        try await withEngine { engine, _ in
            let pictures = engine.pictures
            let most = ["k": String(repeating: "v", count: (64 << 10) - 1)]
            let taken = try await pictures.newAttachment(bytes: [1], metadata: most)
            #expect(taken.metadata == most)
            let over = ["k": String(repeating: "v", count: 64 << 10)]
            #expect(
                try await code {
                    try await pictures.newAttachment(path: "/nowhere", metadata: over)
                } == .tooLarge)
            let reserved = engine.chute.store["_members"]
            #expect(
                try await code { try await reserved.newAttachment(bytes: [1]) } == .invalid)
        }
    }

    @Test func `a file that is written while it is read is changing, and nothing is taken in`()
        async throws
    {
        try await withEngine { engine, folder in
            let path = folder.appending("growing")
            try SampleFiles.write(Array(repeating: 1, count: 4 << 20), to: path)
            let writer = Task {
                let file = try FileDescriptor.open(path, O_WRONLY)
                var count: UInt8 = 0
                while !Task.isCancelled {
                    count &+= 1
                    try file.write([count], at: UInt64(count))
                    await Task.yield()
                }
            }
            let pictures = engine.pictures
            for mode in [AttachmentImportMode.copy, .move] {
                let code = try await code {
                    try await pictures.newAttachment(path: path, mode: mode)
                }
                #expect(code == .changing)
            }
            writer.cancel()
            try await writer.value
            #expect(try engine.blobNames(in: "staging").isEmpty)
            #expect(try Folder(at: folder).status(of: "growing") != nil)
        }
    }

    @Test func `a file that another program can write to is not removed by a move`() async throws {
        try await withEngine { engine, folder in
            let path = folder.appending("open")
            try SampleFiles.write([1, 2, 3], to: path)
            let writer = try FileDescriptor.open(path, O_WRONLY)
            let pictures = engine.pictures
            #expect(
                try await code {
                    try await pictures.newAttachment(path: path, mode: .move)
                } == .changing)
            #expect(try Folder(at: folder).entries().map(\.name).contains("open"))
            try writer.write([9], at: 0)
            let names = try Folder(at: folder).entries().map(\.name)
            #expect(!names.contains { $0.bytes.starts(with: Array(".chute-".utf8)) })
        }
    }

    @Test func `over the engine's limit nothing is taken in, and what is here stays`() async throws
    {
        try await withEngine { engine, folder in
            let pictures = engine.pictures
            await engine.chute.limitAttachments(byteCount: 10)
            let first = try await pictures.newAttachment(bytes: [1, 2, 3, 4, 5, 6])
            #expect(
                try await code {
                    try await pictures.newAttachment(bytes: [6, 5, 4, 3, 2])
                } == .overQuota)
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            for byte in 0..<11 { continuation.yield([UInt8(byte)]) }
            continuation.finish()
            #expect(
                try await code { try await pictures.newAttachment(stream: stream) } == .overQuota)
            #expect(try await first.data() == [1, 2, 3, 4, 5, 6])
            #expect(try engine.blobNames(in: "staging").isEmpty)
            await engine.chute.limitAttachments(byteCount: nil)
            _ = try await pictures.newAttachment(bytes: [6, 5, 4, 3, 2])
        }
    }

    @Test(.enabled(if: canMount, "needs root"))
    func
        `a full disk is no-space, leaves nothing behind, and taking in goes on once there is room`()
        async throws
    {
        try await withTmpfs("size=8m") { point in
            try await withEngine(in: point) { engine, _ in
                let pictures = engine.pictures
                var random = SeededGenerator(seed: 1)
                let bytes = random.bytes(7 << 20)
                #expect(
                    try await code {
                        for byte in 0..<2 {
                            _ = try await pictures.newAttachment(bytes: bytes + [UInt8(byte)])
                        }
                    } == .noSpace)
                #expect(try engine.blobNames(in: "staging").isEmpty)
                _ = try await pictures.newAttachment(bytes: [1])
            }
        }
    }

    @Test func `a cancelled task takes nothing in, also where its stream just ends`() async throws {
        try await withEngine { engine, folder in
            let pictures = engine.pictures
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            continuation.yield([1, 2, 3])
            let task = Task { try await pictures.newAttachment(stream: stream) }
            try await eventually("the first chunk") {
                try engine.blobNames(in: "staging").count == 1
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try engine.blobNames().isEmpty)
            #expect(try engine.blobNames(in: "staging").isEmpty)
        }
    }

    @Test func `a stream that fails says why, and nothing is taken in`() async throws {
        try await withEngine { engine, _ in
            let pictures = engine.pictures
            let stream = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield([1])
                continuation.finish(throwing: NeverHappened(what: "the rest"))
            }
            await #expect(throws: NeverHappened.self) {
                try await pictures.newAttachment(stream: stream)
            }
            let left = try engine.blobNames().union(engine.blobNames(in: "staging"))
            #expect(left.isEmpty)
        }
    }
}
