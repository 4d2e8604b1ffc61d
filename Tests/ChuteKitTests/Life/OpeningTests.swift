import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

/// Directories and identities that do not do.
@Suite(.timeLimit(.minutes(1)))
struct OpeningTests {
    private func open(
        _ directory: BytePath, as identity: Chute.Identity = .paired,
        network: Chute.Network = .offline, diagnostics: Diagnostics = .none
    ) async throws -> Chute {
        try await Chute.open(
            identity: identity, persistenceDirectory: directory, network: network,
            diagnostics: diagnostics)
    }

    private func code(
        _ directory: BytePath, as identity: Chute.Identity = .paired,
        network: Chute.Network = .offline
    ) async throws -> ChuteError.Code? {
        do {
            try await open(directory, as: identity, network: network).close()
            return nil
        } catch let error as ChuteError { return error.code }
    }

    @Test func `the directory is made, the folder above it is not`() async throws {
        try await withTemporaryDirectory { folder in
            let below = try await code(folder.appending("b/c"))
            #expect(below == .missingDirectory)
            #expect(try Folder(at: folder).status(of: "b") == nil)
            #expect(try await code(folder.appending("a")) == nil)
            #expect(try FileStatus.of(folder.appending("a")).mode & 0o7777 == 0o700)
        }
    }

    @Test func `a file where the directory or the one above it should be is said`() async throws {
        try await withTemporaryDirectory { folder in
            _ = try Folder(at: folder).open("file", FileDescriptor.readWriteCreate, mode: 0o600)
            #expect(try await code(folder.appending("file")) == .notADirectory)
            #expect(try await code(folder.appending("file/a")) == .notADirectory)
            #expect(try FileStatus.of(folder.appending("file")).size == 0)
        }
    }

    @Test func `a place that may not be written is said`() async throws {
        // Nobody may make a folder there, root neither.
        #expect(try await code("/sys/chute-test") == .notWritable)
    }

    @Test func `a second engine is refused, and the first one goes on`() async throws {
        try await withTemporaryDirectory { folder in
            let first = try await open(folder.appending("a"))
            #expect(try await code(folder.appending("a")) == .heldElsewhere)
            #expect(try await first.members().isEmpty)
            try await first.close()
            #expect(try await code(folder.appending("a")) == nil)
        }
    }

    @Test func `what a child has of a lock's file keeps no directory after a failed opening`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("a")
            var lock: DirectoryLock? = try DirectoryLock(path)
            let file = try FileStatus.of(path.appending("chute.lock"))
            // As in a child between its start and its own program: the same open description.
            let shared = try #require(
                (0..<65_536).first { number in
                    var found = stat()
                    return fstat(Int32(number), &found) == 0 && found.st_ino == file.inode
                        && found.st_size == 0
                }.map { dup(Int32($0)) })
            defer { close(shared) }
            #expect(DirectoryLock.isHeld(in: path))
            _ = lock
            lock = nil
            #expect(!DirectoryLock.isHeld(in: path))
            try await open(path).close()
        }
    }

    @Test func `a store of a later version is left as it is`() async throws {
        try await withTemporaryDirectory { folder in
            let directory = folder.appending("a")
            try await open(directory).close()
            do {
                let database = try Connection(path: directory.appending("chute.db"))
                try database.execute("PRAGMA user_version = 99")
            }
            #expect(try await code(directory) == .storeIsNewer)
            #expect(try await code(directory) == .storeIsNewer)
        }
    }

    private static let identities: [Chute.Identity] = [
        .paired, .sharedKey(.test(1)), .sharedKey(.test(2)),
        .sharedKey(appID: "pics", key: .test(1)), .sharedKey(appID: "chat", key: .test(1)),
        .development(appName: "pics"), .development(appName: "chat"),
    ]

    @Test(arguments: identities)
    func `a directory stays with the identity that it was made with`(
        identity: Chute.Identity
    ) async throws {
        try await withTemporaryDirectory { folder in
            let directory = folder.appending("a")
            let chute = try await open(directory, as: identity)
            let space = await chute.space
            try await chute.close()
            for other in Self.identities where other != identity {
                let error = await #expect(throws: ChuteError.self) {
                    _ = try await open(directory, as: other)
                }
                #expect(error?.code == .wrongIdentity)
                #expect(error?.message.contains("directory of its own") == true)
            }
            let again = try await open(directory, as: identity)
            #expect(await again.space == space)
            try await again.close()
        }
    }

    @Test func `a store from before identities were noted is known by its space`() async throws {
        try await withTemporaryDirectory { folder in
            for (name, identity) in [
                ("key", Chute.Identity.sharedKey(.test())), ("paired", .paired),
            ] {
                let directory = folder.appending(BytePath(name))
                let chute = try await open(directory, as: identity)
                if identity == .paired { _ = try await chute.invite() }
                try await chute.close()
                do {
                    let database = try Connection(path: directory.appending("chute.db"))
                    try database.execute("DELETE FROM meta WHERE key = 'identity'")
                }
                #expect(
                    try await code(directory, as: .sharedKey(.test(9))) == .wrongIdentity)
                #expect(try await code(directory, as: identity) == nil)
            }
        }
    }

    @Test func `who may change the identity takes the directory along`() async throws {
        try await withTemporaryDirectory { folder in
            let directory = folder.appending("a")
            try await open(directory).close()
            for identity in [Chute.Identity.sharedKey(.test(1)), .sharedKey(.test(2))] {
                let chute = try await Chute.open(
                    DirectoryLock(directory), identity: identity, mayChangeIdentity: true,
                    network: .offline)
                #expect(await chute.space == identity.key?.space)
                try await chute.close()
                #expect(try await code(directory, as: identity) == nil)
            }
        }
    }

    @Test func `one key is another space for each application, and for none`() async throws {
        let spaces = Self.identities.compactMap { $0.key?.space }
        #expect(Set(spaces).count == 6)
        // The spaces of drop folders stay what they are.
        let key = SharedKey.test(1)
        #expect(Chute.Identity.sharedKey(key).key == key)
    }

    @Test(arguments: [
        Chute.Identity.development(appName: ""), .sharedKey(appID: "", key: .test()),
        .development(appName: String(repeating: "a", count: 256)),
    ])
    func `a name of an application that is none is refused`(
        identity: Chute.Identity
    ) async throws {
        try await withTemporaryDirectory { folder in
            let code = try await code(folder.appending("a"), as: identity)
            #expect(code == .invalid)
            #expect(try Folder(at: folder).status(of: "a") == nil)
        }
    }

    @Test(arguments: ["", "a", "a:b", ":1"])
    func `an address that is none is refused`(address: String) async throws {
        try await withTemporaryDirectory { folder in
            let listens = Chute.Network(listen: address, isPortFixed: true, connect: [])
            let dials = Chute.Network(listen: nil, isPortFixed: true, connect: [address])
            for network in [listens, dials] {
                let code = try await code(folder.appending("a"), network: network)
                #expect(code == .invalid)
            }
        }
    }
}
