import ChuteSystem
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct InotifyTests {
    private func events(
        of inotify: Inotify, until isLast: (InotifyEvent) -> Bool
    ) async throws -> [InotifyEvent] {
        var found: [InotifyEvent] = []
        while let more = await inotify.next() {
            found += more
            if more.contains(where: isLast) { return found }
        }
        return found
    }

    @Test func `a written file is told with its bytes for a name`() async throws {
        try await withTemporaryDirectory { path in
            let inotify = try Inotify()
            let folder = try Folder(at: path)
            let watch = try inotify.watch(folder)
            let name = BytePath(bytes: [0x61, 0xFF])
            try folder.open(name, O_CREAT | O_WRONLY).write([1, 2, 3], at: 0)

            let found = try await events(of: inotify) { $0.mask == .closedWrite }
            #expect(found.map(\.mask) == [.created, .modified, .closedWrite])
            #expect(found.allSatisfy { $0.name == name && $0.watch == watch })
        }
    }

    @Test func `reading tells nothing`() async throws {
        try await withTemporaryDirectory { path in
            let folder = try Folder(at: path)
            try folder.open("a", O_CREAT | O_WRONLY).write([1], at: 0)
            let inotify = try Inotify()
            _ = try inotify.watch(folder)
            #expect(try folder.open("a", O_RDONLY).read(count: 1, at: 0) == [1])
            #expect(try folder.entries().count == 1)
            try folder.makeFolder("last")

            let found = try await events(of: inotify) { $0.mask.contains(.created) }
            #expect(found.map(\.name) == ["last"])
        }
    }

    @Test func `both halves of a rename have one cookie`() async throws {
        try await withTemporaryDirectory { path in
            let folder = try Folder(at: path)
            try folder.makeFolder("a")
            let inotify = try Inotify()
            _ = try inotify.watch(folder)
            try folder.rename("a", to: "b")

            let found = try await events(of: inotify) { $0.mask.contains(.movedTo) }
            #expect(found.map(\.mask) == [[.movedFrom, .isFolder], [.movedTo, .isFolder]])
            #expect(found.map(\.name) == ["a", "b"])
            #expect(Set(found.map(\.cookie)).count == 1)
        }
    }

    @Test func `a full queue says once that events were lost`() async throws {
        try await withTemporaryDirectory { path in
            let folder = try Folder(at: path)
            let inotify = try Inotify(capacity: 4)
            let watch = try inotify.watch(folder)
            for index in 0..<20 { try folder.makeFolder(BytePath("\(index)")) }
            inotify.remove(watch)
            // Nobody took anything meanwhile, so that at most 4 of 20 found room.
            var found: [InotifyEvent] = []
            while !found.contains(.overflow), let more = await inotify.next() { found += more }
            #expect(found.contains(.overflow))
        }
    }

    @Test func `whoever waits is let go by stop and by cancellation`() async throws {
        let inotify = try Inotify()
        let waiting = Task { await inotify.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)

        async let stopped = inotify.next()
        inotify.stop()
        inotify.stop()
        #expect(await stopped == nil)
    }

    @Test func `no thread is left behind`() async throws {
        func threads() throws -> Int { try Folder(at: "/proc/self/task").entries().count }
        let names = { () throws -> Int in try threads() }
        let before = try names()
        for _ in 0..<200 { try Inotify().stop() }
        // The pool of the runtime may grow by a few; two hundred would be ours.
        #expect(try names() < before + 100)
    }

    @Test(arguments: [
        (SystemError(code: ENOSPC, call: "inotify_add_watch"), "fs.inotify.max_user_watches"),
        (SystemError(code: EMFILE, call: "inotify_init1"), "fs.inotify.max_user_instances"),
    ])
    func `a used up limit names its setting`(error: SystemError, setting: String) {
        #expect(error.inotifyLimitRemedy?.contains(setting) == true)
        #expect(SystemError(code: ENOSPC, call: "write").inotifyLimitRemedy == nil)
    }
}
