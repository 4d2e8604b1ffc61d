import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct FolderRootTests {
    private let use = RootMark.Use(.outbox, space: "s1")

    @Test func `a root without a row is new and nothing is made`() async throws {
        try await withTemporaryDirectory { top in
            guard case .new = try FolderRoot.open(at: top.appending("out"), expected: nil) else {
                Issue.record("not new")
                return
            }
            #expect(try Folder(at: top).entries().isEmpty)
        }
    }

    @Test func `a root is made with its mark and found again`() async throws {
        try await withTemporaryDirectory { top in
            let path = top.appending("deep/out")
            let root = try FolderRoot.establish(at: path, use: use)
            #expect(try root.folder.status(of: ".chute")?.mode == UInt32(S_IFDIR) | 0o700)
            guard case .ready(let again) = try FolderRoot.open(at: path, expected: root.identity)
            else {
                Issue.record("not ready")
                return
            }
            #expect(again.identity == root.identity)
            #expect(RootIdentity(text: root.identity.text) == root.identity)
            #expect(root.isInPlace())
        }
    }

    @Test func `a second use keeps the id`() async throws {
        try await withTemporaryDirectory { top in
            let first = try FolderRoot.establish(at: top, use: use)
            let second = try FolderRoot.establish(at: top, use: .init(.inbox, space: nil))
            #expect(first.identity == second.identity)
            let mark = try #require(try FolderRoot.mark(in: second.folder))
            #expect(mark.uses == [use, .init(.inbox, space: nil)])
        }
    }

    @Test func `a mark made without a space is the space's after joining`() async throws {
        try await withTemporaryDirectory { top in
            _ = try FolderRoot.establish(at: top, use: .init(.outbox, space: nil))
            let root = try FolderRoot.establish(at: top, use: use)
            #expect(try FolderRoot.mark(in: root.folder)?.uses == [use])
        }
    }

    @Test(arguments: ["missing", "without mark", "another mark", "garbage", "a link"])
    func `anything else at the path is not mounted and nothing is made`(what: String) async throws {
        try await withTemporaryDirectory { top in
            let path = top.appending("out")
            let expected = try FolderRoot.establish(at: path, use: use).identity
            try Folder(at: top).removeTree("out")
            switch what {
            case "missing": break
            case "another mark": _ = try FolderRoot.establish(at: path, use: use)
            default:
                let folder = try Folder(at: top)
                try folder.makeFolder("out")
                let out = try folder.folder(at: "out")
                guard what != "without mark" else { break }
                try out.makeFolder(".chute")
                let chute = try out.folder(at: ".chute")
                if what == "a link" {
                    symlink("/etc/passwd", path.appending(".chute/id").string ?? "")
                } else {
                    let file = try chute.open("id", O_WRONLY | O_CREAT)
                    try file.write([0xFF, 0, 0x0A], at: 0)
                }
            }
            let before = try? Folder(at: path).entries().count
            guard case .notMounted = try FolderRoot.open(at: path, expected: expected) else {
                Issue.record("opened \(what)")
                return
            }
            let after = try? Folder(at: path).entries().count
            #expect(after == before)
        }
    }

    @Test func `a root that was replaced behind an open descriptor is not in place`() async throws {
        try await withTemporaryDirectory { top in
            let root = try FolderRoot.establish(at: top.appending("out"), use: use)
            try Folder(at: top).rename("out", to: "moved")
            #expect(!root.isInPlace())
            _ = try FolderRoot.establish(at: top.appending("out"), use: use)
            #expect(!root.isInPlace())
        }
    }

    @Test(arguments: [
        "", "zz\n", "00112233445566778899aabbccddeeff00\ninbox -\n", "00112233\ninbox -\n",
    ])
    func `text that is no mark is none`(text: String) {
        #expect(RootMark(text: Array(text.utf8)) == nil)
    }

    @Test func `a mark of a later version is read as far as it is known`() throws {
        let text = "00112233445566778899aabbccddeeff\ncache x\noutbox s1\ninbox - more\n"
        #expect(RootMark(text: Array(text.utf8))?.uses == [use])
    }

    @Test func `what the file system can is found out without leaving anything`() async throws {
        try await withTemporaryDirectory { top in
            let root = try FolderRoot.establish(at: top, use: use)
            let abilities = try RenameAbilities.probe(root)
            #expect(abilities.renamesExclusively)
            #expect(abilities == (try RenameAbilities.probe(root)))
            #expect(try root.folder.folder(at: ".chute/probe").entries().isEmpty)
            let info = try FileSystemInfo.of(descriptor: root.folder.descriptor.raw)
            #expect(info.freeBytes > 0)
            #expect(!info.isReadOnly)
        }
    }

    @Test(
        arguments: [
            (0xEF53, false, true), (0x6969, false, false), (0x4D44, true, false),
            (0x0102_1994, false, false),
        ] as [(UInt64, Bool, Bool)])
    func `a file system is known by its number`(
        type: UInt64, isFolding: Bool, syncsWhole: Bool
    ) {
        let kind = FileSystemKind(type: type)
        #expect(kind.isFolding == isFolding)
        #expect(kind.syncsWhole == syncsWhole)
    }
}
