import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

/// Pictures made to do harm, and programs that fail, by what becomes of whoever asked.
@Suite(
    .timeLimit(.minutes(3)), .enabled(if: Pixels.isPresent, "libvips-tools is not installed"))
struct HostilePictureTests {
    /// A gzip stream with something after its end, over which the SVG loader of libvips 8.14
    /// spins for ever when asked whether it is one.
    private static let spinning: [UInt8] =
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0]
        + [0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0] + Array("PK\u{3}\u{4} and more of it".utf8)

    private static func write(_ bytes: [UInt8], _ path: BytePath, mode: UInt32 = 0o600) throws {
        let file = try FileDescriptor.open(path, FileDescriptor.readWriteCreate, mode: mode)
        try file.write(bytes, at: 0)
    }

    private static func names(in folder: BytePath) throws -> Set<BytePath> {
        Set(try Folder(at: folder).entries().map(\.name))
    }

    /// Expects `picture`, nothing at the output, and a good picture right after; the error.
    private static func expectRefusal(
        of original: BytePath, in folder: BytePath, by transform: VipsTransform
    ) async throws -> ChuteError {
        let before = try names(in: folder)
        let error = try await #require(throws: ChuteError.self, "\(original)") {
            try await transform.encode(original, to: folder.appending("o.jpg"), quality: .low)
        }
        #expect(error.code == .picture, "\(original): \(error)")
        #expect(try names(in: folder) == before)
        return error
    }

    private static func expectGood(
        in folder: BytePath, by transform: VipsTransform
    ) async throws {
        let (good, output) = (folder.appending("good.png"), folder.appending("good.jpg"))
        try Pixels.make(good, width: 16, height: 16, colour: "200 100 50")
        try await transform.encode(good, to: output, quality: .low)
        #expect(try Pixels.size(of: output) == [16, 16])
        try Folder(at: folder).remove("good.png")
        try Folder(at: folder).remove("good.jpg")
    }

    @Test func `what spins in the header is ended, and the next picture is made`() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("hello.zip.gz")
            try Self.write(Self.spinning, path)
            let transform = VipsTransform(limits: PictureLimits(processorTime: .seconds(1)))
            let error = try await Self.expectRefusal(of: path, in: folder, by: transform)
            #expect(error.description.contains("processor time"))
            #expect(!error.isTransient)
            try await Self.expectGood(in: folder, by: transform)
        }
    }

    @Test func `while one spins, others are made`() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("hello.zip.gz")
            try Self.write(Self.spinning, path)
            // Longer than the test may take: it is ended by the cancellation alone.
            let limits = PictureLimits(time: .seconds(1000))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let transform = VipsTransform(limits: limits)
                    _ = try await transform.encode(
                        path, to: folder.appending("o.jpg"), quality: .low)
                }
                try await Self.expectGood(in: folder, by: VipsTransform())
                group.cancelAll()
                do { try await group.waitForAll() } catch is CancellationError {
                } catch let error as ChuteError { #expect(error.code == .picture) }
            }
            #expect(try Self.names(in: folder) == ["hello.zip.gz"])
        }
    }

    @Test func `a picture of more pixels than allowed is refused by its header`() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("a.png")
            try Pixels.make(path, width: 100, height: 101, colour: "0 0 0")
            let transform = VipsTransform(limits: PictureLimits(pixelCount: 10000))
            let error = try await Self.expectRefusal(of: path, in: folder, by: transform)
            #expect(error.description.contains("100 times 101"))
            try await Self.expectGood(in: folder, by: transform)
        }
    }

    @Test func `a picture that takes too much memory is refused, not made with holes`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("interlaced.png")
            try Pixels.vips("black", folder.appending("b.v"), "6000", "6000", "--bands", "4")
            try Pixels.vips("pngsave", folder.appending("b.v"), path, "--interlace")
            try Folder(at: folder).remove("b.v")
            let transform = VipsTransform(limits: PictureLimits(memory: 200_000 << 10))
            let error = try await Self.expectRefusal(of: path, in: folder, by: transform)
            #expect(error.description.contains("memory"))
            try await Self.expectGood(in: folder, by: transform)
        }
    }

    @Test func `a JPEG that becomes too large is not made`() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("noise.png")
            try Pixels.vips("gaussnoise", folder.appending("n.v"), "400", "400")
            try Pixels.vips("cast", folder.appending("n.v"), path, "uchar")
            try Folder(at: folder).remove("n.v")
            let transform = VipsTransform(limits: PictureLimits(outputSize: 4096))
            let error = try await Self.expectRefusal(of: path, in: folder, by: transform)
            #expect(error.description.contains("too large"))
            try await Self.expectGood(in: folder, by: transform)
        }
    }

    /// Programs that stand for those of libvips: what they do is what is tried.
    private static func programs(
        _ vips: String, header: String = "echo 'width: 1'; echo 'height: 1'", in folder: BytePath
    ) throws -> BytePath {
        let programs = folder.appending("programs")
        try Folder.make(programs)
        for (name, script) in [("vips", vips), ("vipsheader", header)] {
            // By a rename: a file that is open for writing, in a child of another test too,
            // cannot be run.
            let made = try CapturedRun(
                "/bin/sh",
                [
                    "-c", "printf '%s' \"$1\" >\"$2\"; chmod 755 \"$2\"", "sh",
                    BytePath("#!/bin/sh\n\(script)\n"), programs.appending(name),
                ])
            guard made.end == .exited(0) else { throw NeverHappened(what: "a program") }
        }
        return programs
    }

    @Test(arguments: [
        ("echo half; exit 1", "no reason"),
        ("echo half; echo 'what: it was' >&2; exit 3", "what: it was"),
        ("echo half; echo bad_alloc >&2; exit 134", "memory"),
        // As libvips 8.14 does: it goes on without the memory, and says that all is well.
        ("echo half; echo 'VIPS-WARNING **: out of memory --- size == 0MB' >&2", "memory"),
        ("echo half; /bin/sleep 1000", "within"),
    ])
    func `a program that fails leaves no half picture`(script: String, reason: String) async throws
    {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("a.png")
            try Self.write([1], original)
            let transform = VipsTransform(
                limits: PictureLimits(time: .seconds(3)),
                programs: try Self.programs(script, in: folder))
            let error = try await Self.expectRefusal(of: original, in: folder, by: transform)
            #expect(error.description.contains(reason), "\(error)")
        }
    }

    @Test func `a picture written to meanwhile is not made, and may be later`() async throws {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("a.png")
            try Self.write([1], original)
            let transform = VipsTransform(
                programs: try Self.programs("echo more >>\(original); echo whole", in: folder))
            let error = try await Self.expectRefusal(of: original, in: folder, by: transform)
            #expect(error.isTransient)
        }
    }

    @Test func `a program that does nothing and says all is well makes no empty picture`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("a.png")
            try Self.write([1], original)
            let transform = VipsTransform(programs: try Self.programs(":", in: folder))
            await #expect(throws: ChuteError.self) {
                try await transform.encode(original, to: folder.appending("o.jpg"), quality: .low)
            }
            #expect(try Self.names(in: folder) == ["a.png", "programs"])
        }
    }

    @Test func `when the task is cancelled the program is gone, and what it wrote`() async throws {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("a.png")
            try Self.write([1], original)
            let mark = folder.appending("mark")
            let transform = VipsTransform(
                programs: try Self.programs(
                    "echo half; echo $$ >\(mark).new; /bin/mv \(mark).new \(mark); "
                        + "exec /bin/sleep 1000", in: folder))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await transform.encode(
                        original, to: folder.appending("o.jpg"), quality: .low)
                }
                try await eventually("the program runs") {
                    try Folder(at: folder).status(of: "mark") != nil
                }
                let text = String(decoding: try Pixels.bytes(of: mark).dropLast(), as: UTF8.self)
                let number = try #require(Int32(text))
                #expect(kill(number, 0) == 0)
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.waitForAll() }
                #expect(kill(number, 0) == -1)
            }
            #expect(try Self.names(in: folder) == ["a.png", "mark", "programs"])
        }
    }

    @Test(.enabled(if: Corpus.isPresent, "no corpus of real files: set CHUTE_CORPUS"))
    func `bombs and files of two kinds are made or refused, and nothing else happens`()
        async throws
    {
        let kinds = ["hostile-bomb", "hostile-polyglot", "hostile-svg", "hostile-renamed"]
        try await withTemporaryDirectory { folder in
            let transform = VipsTransform(
                limits: PictureLimits(processorTime: .seconds(2), memory: 512 << 20))
            var refused: Set<BytePath> = []
            for kind in kinds {
                for entry in try Folder(at: Corpus.folder.appending(kind)).entries() {
                    let original = Corpus.folder.appending(kind).appending(entry.name)
                    do {
                        try await transform.thumbnail(
                            of: original, at: folder.appending("o.jpg"), longestEdge: 64)
                        try Folder(at: folder).remove("o.jpg")
                    } catch let error as ChuteError {
                        #expect(error.code == .picture, "\(original): \(error)")
                        refused.insert(entry.name)
                    }
                    #expect(try Self.names(in: folder).isEmpty)
                }
            }
            let bombs: Set<BytePath> = [
                "17000x17000.avif", "bomb_giant.pdf", "decompression_bomb.gif",
                "decompression_bomb.ico", "quine.gz", "testLZMA_oom",
            ]
            #expect(bombs.isSubset(of: refused))
            // No SVG is opened: it may name files, and be made to take for ever.
            #expect(refused.filter { $0.description.hasSuffix(".svg") }.count > 8)
            try await Self.expectGood(in: folder, by: transform)
        }
    }
}
