import ChuteSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(1)))
struct StaleTemporaryFilesTests {
    private static let random = String(repeating: "0", count: 32)

    /// Makes a folder with a file in it, as this process would have; its name.
    private static func leave(_ mark: ProcessMark, in parent: BytePath) throws -> BytePath {
        let name = BytePath("chute-tmp-\(mark)-\(random)")
        try Folder.make(parent.appending(name))
        try FileDescriptor.open(
            parent.appending(name).appending("a"), FileDescriptor.readWriteCreate
        ).write([1], at: 0)
        return name
    }

    private static func names(in parent: BytePath) throws -> Set<BytePath> {
        Set(try Folder(at: parent).entries().map(\.name))
    }

    private static func mark(
        boot: String? = nil, namespace: UInt64? = nil, identifier: Int32? = nil,
        start: UInt64? = nil
    ) throws -> ProcessMark {
        let own = try #require(ProcessMark.own)
        return ProcessMark(
            boot: boot ?? own.boot, namespace: namespace ?? own.namespace,
            identifier: identifier ?? own.identifier, start: start ?? own.start)
    }

    @Test func `what dead processes left is removed and counted`() async throws {
        try await withTemporaryDirectory { parent in
            let ended = try CapturedRun("/bin/true", [])
            #expect(ended.end == .exited(0))
            _ = try Self.leave(try Self.mark(boot: "0123456789abcdef"), in: parent)
            // Above what the kernel gives out.
            _ = try Self.leave(try Self.mark(identifier: .max), in: parent)
            // The number is a process again, another one.
            _ = try Self.leave(try Self.mark(start: 1), in: parent)
            #expect(StaleTemporaryFiles.remove(in: parent, diagnostics: .none) == 3)
            #expect(try Self.names(in: parent).isEmpty)
        }
    }

    @Test func `what may be in use or is not ours is left alone`() async throws {
        try await withTemporaryDirectory { parent in
            let live = try TemporaryFile(creatingTempDirectoryForFilename: "a", in: parent)
            let elsewhere = try Self.leave(
                try Self.mark(namespace: 1, identifier: .max), in: parent)
            let dead = try Self.mark(boot: "0123456789abcdef")
            var kept: Set<BytePath> = [live.directory.lastComponent, elsewhere]
            for name in [
                "chute-tmp-", "chute-tmp-\(dead)", "chute-tmp-\(dead)-", "chute-tmp-\(dead)-1",
                "chute-tmp-\(dead)-0\(Self.random)", "chute-tmp-0\(dead)-\(Self.random)", "pics",
                "chute-tmp-0123456789abcdef-f-ff-\(Self.random)",
            ] {
                try Folder.make(parent.appending(name))
                kept.insert(BytePath(name))
            }
            // Not a folder, though of such a name.
            let link = BytePath("chute-tmp-\(dead)-\(Self.random)")
            symlink(
                live.directory.description, parent.appending(link).description)
            kept.insert(link)
            #expect(StaleTemporaryFiles.remove(in: parent, diagnostics: .none) == 0)
            #expect(try Self.names(in: parent) == kept)
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root can make another's folder"))
    func `a folder of another user is left alone`() async throws {
        try await withTemporaryDirectory { parent in
            let name = try Self.leave(try Self.mark(boot: "0123456789abcdef"), in: parent)
            #expect(chown(parent.appending(name).description, 65534, 65534) == 0)
            #expect(StaleTemporaryFiles.remove(in: parent, diagnostics: .none) == 0)
            #expect(try Self.names(in: parent) == [name])
        }
    }

    @Test func `a folder that cannot be looked into is said, and nothing fails`() async throws {
        let said = Mutex<[String]>([])
        let diagnostics = Diagnostics { _, message in said.withLock { $0.append(message) } }
        try await withTemporaryDirectory { parent in
            let missing = parent.appending("missing")
            #expect(StaleTemporaryFiles.remove(in: missing, diagnostics: diagnostics) == 0)
        }
        #expect(said.withLock { $0.count } == 1)
    }

    @Test func `a mark is read as it was written`() throws {
        let own = try #require(ProcessMark.own)
        #expect(ProcessMark(own.description) == own)
        #expect(ProcessMark("\(own)x") == nil)
        #expect(!own.isGone(seenFrom: own))
    }
}
