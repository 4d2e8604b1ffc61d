import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

/// Extended attributes, which Swift's Glibc module does not offer.
private struct AccessList {
    typealias Set =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, CInt) ->
        CInt
    typealias Get =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) ->
        Int

    /// Users 1234: all; group: read and execute; mask: all; others: nothing.
    static let sample: [UInt8] = [
        2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 210, 4, 0, 0, 4, 0, 5, 0, 255, 255,
        255, 255, 16, 0, 7, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
    ]

    /// `false` where the file system keeps none.
    static func setDefault(_ path: BytePath) throws -> Bool {
        let call = unsafeBitCast(try #require(dlsym(nil, "setxattr")), to: Set.self)
        return path.string.map { call($0, "system.posix_acl_default", sample, sample.count, 0) }
            == 0
    }

    static func of(_ path: BytePath) throws -> [UInt8] {
        let call = unsafeBitCast(try #require(dlsym(nil, "getxattr")), to: Get.self)
        let text = try #require(path.string)
        return [UInt8](unsafeUninitializedCapacity: 1024) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = max(0, call(text, "system.posix_acl_access", start, 1024))
        }
    }
}

@Suite struct OutboxAccessTests {
    @Test(arguments: ["", "pi/"])
    func `a file has the access list of one that is made in its folder`(
        folder: String
    ) async throws {
        try await withTemporaryDirectory { top in
            try Folder(at: top).makeFolder("pi")
            guard try AccessList.setDefault(top.appending(BytePath(folder))) else { return }
            let bench = try OutboxBench(at: top)
            try await bench.publish([
                bench.item(folder + "ours", "x"), bench.item(folder + "new/below", "y"),
            ])
            try bench.write(folder + "theirs", "x")
            for name in ["ours", "new/below"] {
                let ours = top.appending(folder + name)
                let theirs = top.appending(folder + "theirs")
                #expect(try !AccessList.of(ours).isEmpty)
                #expect(try AccessList.of(ours) == AccessList.of(theirs))
                #expect(
                    try FileStatus.of(ours).mode == FileStatus.of(theirs).mode)
            }
            #expect(try bench.status(".chute").mode & 0o077 == 0)
        }
    }

    @Test func `a file has the mode of one that is made in its folder`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            try bench.write("theirs", "x")
            try await bench.publish([bench.item("ours", "x")])
            #expect(try bench.status("ours").mode == bench.status("theirs").mode)
        }
    }

    @Test func `configured modes are used, without execute bits on files`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top, modes: .init(file: 0o777, folder: 0o750))
            try await bench.publish([bench.item("pi/a", "x")])
            #expect(try bench.status("pi/a").mode & 0o7777 == 0o666)
            #expect(try bench.status("pi").mode & 0o7777 == 0o750)
        }
    }

    @Test func `execute bits of a staged file are dropped`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let item = try bench.item("a", "x")
            try item.staged.descriptor.setMode(0o755)
            try await bench.publish([item])
            #expect(try bench.status("a").mode & 0o7777 == 0o644)
        }
    }

    @Test func `the group of a setgid folder is inherited`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top, modes: .init(folder: 0o755))
            try bench.root.folder.makeFolder("pi")
            let folder = try bench.root.folder.folder(at: "pi")
            if getuid() == 0 { fchown(folder.descriptor.raw, 0, 4242) }
            try folder.descriptor.setMode(0o2755)
            try await bench.publish([bench.item("pi/a", "x"), bench.item("pi/new/b", "y")])
            #expect(try bench.status("pi/new").mode & 0o7777 == 0o2755)
            guard getuid() == 0 else { return }
            for name in ["pi/a", "pi/new/b"] {
                var found = stat()
                lstat(top.appending(name).string ?? "", &found)
                #expect(found.st_gid == 4242)
            }
        }
    }
}
