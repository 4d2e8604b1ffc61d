import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct MoveTargetTests {
    /// The attribute of a file, read or written: Glibc's module has no call for it.
    private func attribute(of path: BytePath, _ call: BytePath) throws -> String? {
        let script: BytePath = "import os, sys; print((eval(sys.argv[2]) or b'').decode())"
        let run = try CapturedRun("/usr/bin/python3", ["-c", script, path, call])
        return run.end == .exited(0) ? String(decoding: run.output, as: UTF8.self) : nil
    }

    private func setAttribute(of path: BytePath) throws -> Bool {
        try attribute(of: path, "os.setxattr(sys.argv[1], 'user.note', b'mine')") != nil
    }

    private func attribute(of path: BytePath) throws -> String? {
        try attribute(of: path, "os.getxattr(sys.argv[1], 'user.note')")
    }

    @Test func `a copy has the bytes, the time, the permissions and the attributes`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let source = top.appending("a.txt")
            try SampleFiles.write(Array("one".utf8), to: source)
            let hasAttributes = try setAttribute(of: source)
            _ = source.withCString { chmod($0, 0o640) }
            let file = try FileDescriptor.open(source, O_RDWR)
            try file.setModified(1_234_567_890_123_456_789)
            let target = MoveTarget(
                try FolderRoot.establish(
                    at: top.appending("done"), use: .init(.afterIngest, space: nil)))
            for _ in 0..<2 {  // the second time over what a crash left
                _ = try target.stage(file, as: "1-a.txt")
            }
            #expect(try FolderTree.paths(below: target.root.path).isEmpty)
            #expect(try target.publish("1-a.txt", to: "a.txt"))
            let copy = target.root.path.appending("a.txt")
            let status = try FileStatus.of(copy)
            #expect(status.modified == 1_234_567_890_123_456_789)
            #expect(status.mode & 0o7777 == 0o640)
            #expect(try FolderTree.Content(of: copy) == .init(Array("one".utf8)))
            #expect(try attribute(of: copy) == (hasAttributes ? "mine\n" : nil))
        }
    }

    @Test func `nothing is replaced, by a rename or by a copy`() async throws {
        try await withTemporaryDirectory { top in
            let target = MoveTarget(
                try FolderRoot.establish(
                    at: top.appending("done"), use: .init(.afterIngest, space: nil)))
            try SampleFiles.write(Array("mine".utf8), to: target.root.path.appending("a.txt"))
            for text in ["one", "two"] {
                try SampleFiles.write(Array(text.utf8), to: top.appending("a.txt"))
                let folder = try Folder(at: top)
                if text == "one" {
                    #expect(try target.move("a.txt", in: folder, to: "a.txt") == "a (2).txt")
                } else {
                    let file = try folder.open("a.txt", O_RDONLY)
                    _ = try target.stage(file, as: "1-a.txt")
                    #expect(try !target.publish("1-a.txt", to: "a.txt"))
                    var number = 1
                    #expect(try target.freeName(for: "a.txt", from: &number) == "a (3).txt")
                    #expect(try target.publish("1-a.txt", to: "a (3).txt"))
                }
            }
            #expect(
                try FolderTree(of: target.root.path).files == [
                    "a.txt": .init(Array("mine".utf8)), "a (2).txt": .init(Array("one".utf8)),
                    "a (3).txt": .init(Array("two".utf8)),
                ])
        }
    }

    @Test func `a folder that was made anew was dead for good`() async throws {
        try await withTemporaryDirectory { top in
            let path = top.appending("done")
            let use = RootMark.Use(.afterIngest, space: nil)
            let site = try RootSite.of(FolderRoot.establish(at: path, use: use).folder)
            let known = try #require(site)
            // Its own mark, that of another, or somebody's file.
            #expect(try MoveTarget.successor(at: path, of: known) == .filled)
            try Folder(at: top).rename("done", to: "away")
            #expect(try MoveTarget.successor(at: path, of: known) == .missing)
            try Folder.make(path, mode: 0o700)
            #expect(try MoveTarget.successor(at: path, of: known) == .empty)
            try SampleFiles.write([1], to: path.appending("a"))
            #expect(try MoveTarget.successor(at: path, of: known) == .filled)
            #expect(try MoveTarget.successor(at: path, of: nil) == .elsewhere)
        }
    }

    @Test(.enabled(if: OtherFileSystem.isThere, "needs /dev/shm beside /tmp"))
    func `the place where a drive is not mounted is no folder made anew`() async throws {
        try await withTemporaryDirectory { top in
            let path = top.appending("drive")
            try Folder.make(path, mode: 0o700)
            let drive = try RootSite.of(Folder(at: OtherFileSystem.folder))
            #expect(try MoveTarget.successor(at: path, of: drive) == .elsewhere)
            // The same part of a file system, mounted in it.
            let bare = try #require(try RootSite.of(Folder(at: path)))
            let bound = RootSite(fileSystem: bare.fileSystem, mounts: bare.mounts + 1)
            #expect(try MoveTarget.successor(at: path, of: bound) == .elsewhere)
        }
    }

    @Test(.enabled(if: TestUser.isRoot, "mounts")) func `a mount on itself is another site`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let path = top.appending("bound")
            try Folder.make(path, mode: 0o700)
            let bare = try #require(try RootSite.of(Folder(at: path)))
            let mounted = try CapturedRun("/bin/mount", ["--bind", path, path])
            let words = String(decoding: mounted.error, as: UTF8.self)
            try #require(mounted.end == .exited(0), "\(words)")
            let result = Result { try RootSite.of(Folder(at: path)) }
            let unmounted = try CapturedRun("/bin/umount", [path])
            #expect(unmounted.end == .exited(0))
            let bound = try #require(try result.get())
            #expect(bound == RootSite(fileSystem: bare.fileSystem, mounts: bare.mounts + 1))
            #expect(try RootSite.of(Folder(at: path)) == bare)
        }
    }
}
