import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(1)))
struct TemporaryFileTests {
    private static func exists(_ path: BytePath) -> Bool { (try? FileStatus.of(path)) != nil }

    private static func isEmpty(_ folder: BytePath) throws -> Bool {
        try Folder(at: folder).entries().isEmpty
    }

    private static func write(_ path: BytePath) throws {
        try FileDescriptor.open(path, FileDescriptor.readWriteCreate).write([1, 2, 3], at: 0)
    }

    @Test func `the folder is made for its user alone, and the file is not made`() async throws {
        try await withTemporaryDirectory { parent in
            let temporary = try TemporaryFile(
                creatingTempDirectoryForFilename: "a b.jpg", in: parent)
            #expect(temporary.directory.parent == parent)
            #expect(temporary.file == temporary.directory.appending("a b.jpg"))
            let status = try FileStatus.of(temporary.directory)
            #expect(status.kind == .directory)
            #expect(status.mode & 0o7777 == 0o700)
            #expect(!Self.exists(temporary.file))
            let other = try TemporaryFile(creatingTempDirectoryForFilename: "a b.jpg", in: parent)
            #expect(other.directory != temporary.directory)
        }
    }

    @Test func `it lies in TMPDIR or else in slash tmp`() throws {
        let expected = ProcessEnvironment.current["TMPDIR"] ?? "/tmp"
        let temporary = try TemporaryFile(creatingTempDirectoryForFilename: "a")
        defer { #expect(throws: Never.self) { try temporary.deleteDirectory() } }
        #expect(temporary.directory.parent == expected)
    }

    @Test func `removing takes all that is in it, and happens once`() async throws {
        try await withTemporaryDirectory { parent in
            let temporary = try TemporaryFile(creatingTempDirectoryForFilename: "a", in: parent)
            try Self.write(temporary.file)
            try Folder.make(temporary.directory.appending("b/c"))
            try Self.write(temporary.directory.appending("b/c/d"))
            let outside = parent.appending("outside")
            try Self.write(outside)
            symlink(outside.description, temporary.directory.appending("link").description)
            try temporary.deleteDirectory()
            #expect(!Self.exists(temporary.directory))
            #expect(Self.exists(outside))
            try temporary.deleteDirectory()
        }
    }

    @Test func `removing is done where the folder above is gone too`() async throws {
        let temporary = try await withTemporaryDirectory { parent in
            try TemporaryFile(creatingTempDirectoryForFilename: "a", in: parent)
        }
        try temporary.deleteDirectory()
    }

    @Test(arguments: [
        BytePath(""), ".", "..", "a/b", "/", "../a", "a\0b",
        BytePath(bytes: [UInt8](repeating: 0x61, count: 256)),
    ])
    func `a name that is none is refused, and nothing is made`(name: BytePath) async throws {
        try await withTemporaryDirectory { parent in
            let error = try #require(throws: ChuteError.self) {
                try TemporaryFile(creatingTempDirectoryForFilename: name, in: parent)
            }
            #expect(error.code == .invalid)
            let second = try #require(throws: ChuteError.self) {
                try urlForUniqueTemporaryDirectory(preferredName: name, in: parent)
            }
            #expect(second.code == .invalid)
            #expect(try Self.isEmpty(parent))
        }
    }

    @Test(arguments: [
        BytePath(bytes: [0xFF, 0xFE]), "...", "-rf", "a\nb",
        BytePath(bytes: [UInt8](repeating: 0x61, count: 255)),
    ])
    func `any other bytes are a name`(name: BytePath) async throws {
        try await withTemporaryDirectory { parent in
            try await withTemporaryFile(named: name, in: parent) { try Self.write($0.file) }
            #expect(try Self.isEmpty(parent))
        }
    }

    @Test func `the scoped form hands the result on and cleans up`() async throws {
        try await withTemporaryDirectory { parent in
            let size = try await withTemporaryFile(named: "a", in: parent) { temporary in
                try Self.write(temporary.file)
                return try FileStatus.of(temporary.file).size
            }
            #expect(size == 3)
            #expect(try Self.isEmpty(parent))
        }
    }

    @Test func `the scoped form cleans up where the body throws, and throws that`() async throws {
        struct Mine: Error {}
        try await withTemporaryDirectory { parent in
            await #expect(throws: Mine.self) {
                try await withTemporaryFile(named: "a", in: parent) { temporary in
                    try Self.write(temporary.file)
                    throw Mine()
                }
            }
            let isEmpty = try Self.isEmpty(parent)
            #expect(isEmpty)
        }
    }

    @Test func `the scoped form cleans up where the task is cancelled`() async throws {
        try await withTemporaryDirectory { parent in
            let isInside = WakeSignal()
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await withTemporaryFile(named: "a", in: parent) { temporary in
                        try Self.write(temporary.file)
                        isInside.raise()
                        try await Task.pause(for: .seconds(1000))
                    }
                }
                await isInside.wait()
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.waitForAll() }
            }
            let isEmpty = try Self.isEmpty(parent)
            #expect(isEmpty)
        }
    }

    @Test func `a taken name gets the next number, and its folder is left alone`() async throws {
        try await withTemporaryDirectory { parent in
            try Self.write(parent.appending("pics"))
            let first = try urlForUniqueTemporaryDirectory(preferredName: "pics", in: parent)
            let second = try urlForUniqueTemporaryDirectory(preferredName: "pics", in: parent)
            #expect(first == parent.appending("pics-1"))
            #expect(second == parent.appending("pics-2"))
            #expect(try FileStatus.of(parent.appending("pics")).kind == .regular)
            #expect(try FileStatus.of(first).mode & 0o7777 == 0o700)
        }
    }

    @Test func `without a preferred name it is one of its own`() async throws {
        try await withTemporaryDirectory { parent in
            let one = try urlForUniqueTemporaryDirectory(in: parent)
            #expect(try urlForUniqueTemporaryDirectory(in: parent) != one)
            #expect(TemporaryName.owner(of: one.lastComponent) == ProcessMark.own)
        }
    }

    @Test func `nothing is made above, and other errors than a taken name pass at once`()
        async throws
    {
        try await withTemporaryDirectory { parent in
            let missing = parent.appending("missing")
            let error = try #require(throws: ChuteError.self) {
                try urlForUniqueTemporaryDirectory(preferredName: "a", in: missing)
            }
            #expect(error.code == .file)
            #expect((error.cause as? SystemError)?.code == ENOENT)
            // With a number it would be too long for the file system: said, not tried on.
            let long = BytePath(bytes: [UInt8](repeating: 0x61, count: 254))
            _ = try urlForUniqueTemporaryDirectory(preferredName: long, in: parent)
            let second = try #require(throws: ChuteError.self) {
                try urlForUniqueTemporaryDirectory(preferredName: long, in: parent)
            }
            #expect((second.cause as? SystemError)?.code == ENAMETOOLONG)
            #expect(!Self.exists(missing))
        }
    }

    @Test func `a thousand taken names are enough`() async throws {
        try await withTemporaryDirectory { parent in
            for _ in 0..<TemporaryName.attemptLimit {
                _ = try urlForUniqueTemporaryDirectory(preferredName: "a", in: parent)
            }
            let error = try #require(throws: ChuteError.self) {
                try urlForUniqueTemporaryDirectory(preferredName: "a", in: parent)
            }
            #expect(error.code == .file)
            #expect(error.cause == nil)
        }
    }
}
