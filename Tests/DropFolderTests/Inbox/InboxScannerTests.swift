import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

extension Folder {
    /// Makes a file of these bytes.
    func makeFile(_ name: BytePath, _ text: String = "x") throws {
        try open(name, O_CREAT | O_WRONLY | O_TRUNC).write(Array(text.utf8), at: 0)
    }

    func makeLink(_ name: BytePath, to target: String) throws {
        let directory = descriptor.raw
        let result = name.withCString { symlinkat(target, directory, $0) }
        if result != 0 { throw SystemError.current("symlinkat", name) }
    }

    func makePipe(_ name: BytePath) throws {
        let directory = descriptor.raw
        let result = name.withCString { mkfifoat(directory, $0, 0o600) }
        if result != 0 { throw SystemError.current("mkfifoat", name) }
    }
}

struct InboxScannerTests {
    fileprivate func scan(
        _ path: BytePath, limit: Int = 2, filter: InboxFilter = InboxFilter()
    ) throws -> (files: [BytePath], skipped: [BytePath: SkipReason], folders: [BytePath]) {
        var scanner = InboxScanner(try InboxRoot(at: path), filter: filter)
        var files: [BytePath] = []
        var skipped: [BytePath: SkipReason] = [:]
        var folders: [BytePath] = []
        while let batch = scanner.next(limit: limit, willRead: { path, _ in folders.append(path) })
        {
            #expect(batch.count <= limit)
            for entry in batch {
                switch entry {
                case .file(let path, let status):
                    #expect(status.kind == .regular)
                    files.append(path)
                case .skipped(let path, let reason), .unread(let path, let reason):
                    skipped[path] = reason
                }
            }
        }
        return (files.sorted(), skipped, folders.sorted())
    }

    @Test func `all regular files are found, in whatever depth, by their bytes`() async throws {
        try await withTemporaryDirectory { path in
            let root = try Folder(at: path)
            let odd = BytePath(bytes: [0x63, 0xE9])
            try root.makeFolder("a")
            try root.makeFolder("a/b")
            try root.makeFolder("empty")
            for name in ["1", "2", "a/3", "a/b/4", odd] { try root.makeFile(name) }
            let found = try scan(path)
            #expect(found.files == ["1", "2", "a/3", "a/b/4", odd].sorted())
            #expect(found.skipped.isEmpty)
            #expect(found.folders == ["", "a", "a/b", "empty"])
        }
    }

    @Test func `what is not a regular file is named and never opened`() async throws {
        try await withTemporaryDirectory { path in
            let root = try Folder(at: path)
            try root.makeFolder("folder")
            try root.makeFile("folder/in")
            try root.makePipe("pipe.jpg")
            try root.makeLink("outside.jpg", to: "/etc/passwd")
            try root.makeLink("zero.jpg", to: "/dev/zero")
            try root.makeLink("self", to: "self")
            try root.makeLink("loop", to: ".")
            try root.makeLink("folder-link", to: "folder")
            let found = try scan(path)
            #expect(found.files == ["folder/in"])
            #expect(
                found.skipped == [
                    "pipe.jpg": .notRegular, "outside.jpg": .symlink, "zero.jpg": .symlink,
                    "self": .symlink, "loop": .symlink, "folder-link": .symlink,
                ])
        }
    }

    @Test func `hidden and ignored names are listed, our own folder is not`() async throws {
        try await withTemporaryDirectory { path in
            let root = try Folder(at: path)
            for folder: BytePath in [".chute", ".chute/held", "@eaDir", ".git", "a"] {
                try root.makeFolder(folder)
            }
            for name: BytePath in [
                ".chute/id", ".chute/held/x", "@eaDir/thumb.jpg", ".git/config", "scan.part",
                ".x", "a/Thumbs.db", "a/ok",
            ] { try root.makeFile(name) }
            let found = try scan(path)
            #expect(found.files == ["a/ok"])
            #expect(
                found.skipped == [
                    "@eaDir": .ignored, ".git": .hidden, "scan.part": .ignored, ".x": .hidden,
                    "a/Thumbs.db": .ignored,
                ])
        }
    }

    @Test func `below the sixty-fourth folder nothing is shared`() async throws {
        try await withTemporaryDirectory { path in
            let root = try Folder(at: path)
            var folder: BytePath = ""
            for _ in 0..<64 {
                folder = folder.appending("d")
                try root.makeFolder(folder)
            }
            try root.makeFile(folder.appending("deep"))
            let found = try scan(path)
            #expect(found.files.isEmpty)
            #expect(found.skipped == [folder.appending("deep"): .nameRefused])
        }
    }

    @Test func `a folder that cannot be read is named`() async throws {
        await #expect(processExitsWith: .success) {
            try TestUser.stopBeingRoot()
            try await withTemporaryDirectory { path in
                let root = try Folder(at: path)
                try root.makeFolder("closed", mode: 0)
                let skipped = try InboxScannerTests().scan(path).skipped
                try root.removeFolder("closed")
                #expect(skipped == ["closed": .unreadable])
                guard skipped == ["closed": .unreadable] else { exit(1) }
            }
        }
    }
}

struct LeaseProbeTests {
    private let probe = LeaseProbe { file, size in
        let last = try? file.read(count: 1, at: size - 1)
        return last == Array("!".utf8) ? .complete : .unknown
    }

    @Test func `a look tells writer, structure and fingerprint`() async throws {
        try await withTemporaryDirectory { path in
            let root = try InboxRoot(at: path)
            try root.folder.makeFile("whole", "abc!")
            try root.folder.makeFile("rest", "abc")
            try root.folder.makeFile("empty", "")
            for (name, verdict): (BytePath, StructureVerdict) in [
                ("whole", .complete), ("rest", .unknown), ("empty", .empty),
            ] {
                let status = try FileStatus.of(name, in: root.folder.descriptor.raw)
                let expected = SettleTracker.Probe(
                    lease: .free, structure: verdict, fingerprint: FileFingerprint(status))
                #expect(probe.look(at: name, in: root) == .file(expected, status))
            }
            let writer = try root.folder.open("whole", O_WRONLY)
            guard case .file(let busy, _) = probe.look(at: "whole", in: root) else {
                Issue.record("no answer")
                return
            }
            #expect(busy.lease == .busy)
            try writer.syncData()
        }
    }

    @Test func `what is not a regular file is told without waiting for it`() async throws {
        try await withTemporaryDirectory { path in
            let root = try InboxRoot(at: path)
            try root.folder.makePipe("pipe")
            try root.folder.makeLink("link", to: "/etc/passwd")
            try root.folder.makeFolder("folder")
            try root.folder.makeLink("folder-link", to: "/etc")
            #expect(probe.look(at: "pipe", in: root) == .skipped(.notRegular))
            #expect(probe.look(at: "link", in: root) == .skipped(.symlink))
            #expect(probe.look(at: "folder", in: root) == .skipped(.notRegular))
            #expect(probe.look(at: "folder-link/passwd", in: root) == .skipped(.symlink))
            #expect(probe.look(at: "nothing", in: root) == .missing)
            #expect(probe.look(at: "nothing/below", in: root) == .missing)
        }
    }
}
