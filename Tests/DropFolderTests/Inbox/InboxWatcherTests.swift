import ChuteSystem
import DropFolder
import Glibc
import Synchronization
import TestSupport
import Testing

/// Takes what a watcher sees until something is true.
private struct Witness {
    let watcher: InboxWatcher
    private(set) var all: [InboxSighting] = []

    init(_ watcher: InboxWatcher) { self.watcher = watcher }

    /// The time limit of the suite ends a wait that is in vain.
    mutating func wait(until isEnough: ([InboxSighting]) -> Bool) async {
        while !isEnough(all), let more = await watcher.next() { all += more }
    }

    mutating func waitForScan(after count: Int = 0) async {
        await wait { $0.dropFirst(count).contains { $0.endedScan?.isComplete == true } }
    }

    var files: Set<BytePath> { Set(all.compactMap(\.file)) }
}

extension InboxSighting {
    fileprivate var file: BytePath? {
        if case .file(let path, _) = self { path } else { nil }
    }

    fileprivate var endedScan: Coverage? {
        if case .scanEnded(_, let coverage) = self { coverage } else { nil }
    }

    fileprivate var isScanned: Bool {
        if case .file(_, .scanned) = self { true } else { false }
    }

    fileprivate var movedCookie: UInt32? {
        switch self {
        case .file(_, .movedTo(let cookie)), .file(_, .movedFrom(let cookie)): cookie
        default: nil
        }
    }
}

@Suite(.timeLimit(.minutes(2)))
struct InboxWatcherTests {
    /// Calls `body` while a watcher of a fresh folder runs.
    fileprivate func withWatcher(
        _ settings: InboxWatcher.Settings = .init(),
        isOurs: @escaping InboxWatcher.RootCheck = {
            _ in true
        },
        _ body: (inout Witness, BytePath) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { parent in
            let path = parent.appending("inbox")
            try Folder(at: parent).makeFolder("inbox")
            let watcher = InboxWatcher(path: path, settings: settings, isOurs: isOurs)
            try await withThrowingTaskGroup { group in
                group.addTask { await watcher.run() }
                var witness = Witness(watcher)
                try await body(&witness, path)
                group.cancelAll()
            }
            #expect(watcher.root == nil)
        }
    }

    @Test func `what lies there is found by a first scan, then events tell`() async throws {
        try await withTemporaryDirectory { path in
            let root = try Folder(at: path)
            try root.makeFolder("sub")
            try root.makeFile("sub/old")
            let watcher = InboxWatcher(path: path)
            await withTaskGroup { group in
                group.addTask { await watcher.run() }
                var witness = Witness(watcher)
                await witness.waitForScan()
                #expect(witness.all.first == .scanBegan(generation: 1, afterAbsence: true))
                #expect(witness.files == ["sub/old"])
                await witness.wait { $0.contains(.state(.watching)) }

                #expect(throws: Never.self) { try root.makeFile("sub/new") }
                await witness.wait { $0.contains(.file("sub/new", .closedWrite)) }
                #expect(witness.all.contains(.file("sub/new", .created)))
                group.cancelAll()
            }
        }
    }

    @Test func `files written into folders that are only just made are seen`() async throws {
        try await withWatcher { witness, path in
            await witness.waitForScan()
            let root = try Folder(at: path)
            var expected: Set<BytePath> = []
            for round in 0..<60 {
                var folder = BytePath("r\(round)")
                try root.makeFolder(folder)
                for depth in 0..<(round % 6) {
                    folder = folder.appending("d\(depth)")
                    try root.makeFolder(folder)
                }
                try root.makeFile(folder.appending("f"))
                expected.insert(folder.appending("f"))
            }
            await witness.wait { all in expected.isSubset(of: all.compactMap(\.file)) }
            #expect(witness.files == expected)
        }
    }

    @Test func `a folder that is moved in, and then renamed, is seen with all in it`() async throws
    {
        try await withWatcher { witness, path in
            await witness.waitForScan()
            let parent = try Folder(at: path.parent)
            try parent.makeFolder("photos")
            try parent.makeFolder("photos/more")
            for index in 0..<100 {
                try parent.makeFile(BytePath("photos/\(index)"))
                try parent.makeFile(BytePath("photos/more/\(index)"))
            }
            try parent.rename("photos", to: "inbox/photos")
            await witness.wait { Set($0.compactMap(\.file)).count == 200 }

            let root = try Folder(at: path)
            try root.rename("photos", to: "pictures")
            await witness.wait { Set($0.compactMap(\.file)).count == 400 }
            #expect(witness.all.contains(.folderMovedFrom("photos")))
            try root.makeFile("pictures/more/new")
            await witness.wait { $0.contains(.file("pictures/more/new", .closedWrite)) }
        }
    }

    @Test func `renames within the inbox are told with one cookie`() async throws {
        try await withWatcher { witness, path in
            await witness.waitForScan()
            let root = try Folder(at: path)
            try root.makeFile("x.pdf.filepart")
            try root.rename("x.pdf.filepart", to: "x.pdf")
            await witness.wait { $0.contains { $0.movedCookie != nil } }
            #expect(witness.files == ["x.pdf"])
            let parts = witness.all.compactMap { sighting -> InboxSighting.Kind? in
                if case .skipped("x.pdf.filepart", .ignored, let kind) = sighting {
                    kind
                } else {
                    nil
                }
            }
            let cookie = try #require(witness.all.compactMap(\.movedCookie).first)
            #expect(parts == [.created, .movedFrom(cookie: cookie)])
        }
    }

    // A link, and a file that was made without a name, get no close under their name.
    @Test func `links, nameless files and exchanges are told`() async throws {
        try await withWatcher { witness, path in
            await witness.waitForScan()
            let root = try Folder(at: path)
            try Folder(at: path.parent).makeFile("outside")
            try Folder(at: path.parent).link("outside", to: "linked", in: root)
            await witness.wait { $0.contains(.file("linked", .created)) }

            try root.makeFile("other")
            try root.exchange("linked", with: "other", in: root)
            await witness.wait { $0.filter { $0.movedCookie != nil }.count == 4 }
            let arrived = witness.all.filter {
                if case .file(_, .movedTo) = $0 { true } else { false }
            }
            #expect(Set(arrived.compactMap(\.file)) == ["linked", "other"])
        }
    }

    @Test func `after lost events everything is found by one more scan`() async throws {
        var settings = InboxWatcher.Settings()
        settings.eventCapacity = 8
        settings.capacity = 64
        settings.scanBatch = 16
        try await withWatcher(settings) { witness, path in
            await witness.waitForScan()
            let before = witness.all.count
            let root = try Folder(at: path)
            var expected: Set<BytePath> = []
            for index in 0..<1000 {
                try root.makeFile(BytePath("\(index)"))
                expected.insert(BytePath("\(index)"))
            }
            // Nobody takes anything meanwhile: both queues are too small.
            await witness.waitForScan(after: before)
            await witness.wait { all in expected.isSubset(of: all.compactMap(\.file)) }
            let ends = witness.all.compactMap(\.endedScan)
            #expect(ends.count <= 10)
        }
    }

    @Test func `a scan that was asked for names every file again`() async throws {
        try await withWatcher { witness, path in
            try Folder(at: path).makeFile("a")
            await witness.waitForScan()
            let seen = witness.all.count
            witness.watcher.rescan()
            await witness.waitForScan(after: seen)
            #expect(witness.all.dropFirst(seen).contains { $0.isScanned && $0.file == "a" })
            #expect(
                witness.all.dropFirst(seen).contains(
                    .scanBegan(generation: 2, afterAbsence: false)))
        }
    }

    @Test func `where there are no events, scans find what is dropped`() async throws {
        var settings = InboxWatcher.Settings()
        settings.fileSystem = .remote
        settings.pollPause = .milliseconds(20)
        try await withWatcher(settings) { witness, path in
            await witness.wait { $0.contains(.state(.polling(.remoteFileSystem))) }
            let root = try Folder(at: path)
            try root.makeFolder("sub")
            try root.makeFile("sub/a")
            await witness.wait { $0.contains { $0.isScanned && $0.file == "sub/a" } }
            #expect(!witness.all.contains(.file("sub/a", .created)))
        }
    }

    @Test func `a folder that becomes readable is looked into`() async throws {
        await #expect(processExitsWith: .success) {
            try TestUser.stopBeingRoot()
            try await InboxWatcherTests().withWatcher { witness, path in
                await witness.waitForScan()
                let root = try Folder(at: path)
                try root.makeFolder("closed", mode: 0o300)
                try root.makeFile("closed/a")
                await witness.wait { $0.contains(.skipped("closed", .unreadable, nil)) }
                let directory = root.descriptor.raw
                guard "closed".withCString({ fchmodat(directory, $0, 0o700, 0) }) == 0 else {
                    exit(1)
                }
                await witness.wait { $0.contains { $0.isScanned && $0.file == "closed/a" } }
            }
        }
    }

    @Test func `an inbox that goes is waited for, and nothing in it counts as gone`() async throws {
        var settings = InboxWatcher.Settings()
        settings.checkPause = .milliseconds(20)
        try await withWatcher(settings) { witness, path in
            try Folder(at: path).makeFile("a")
            await witness.waitForScan()
            let parent = try Folder(at: path.parent)
            try parent.rename("inbox", to: "elsewhere")
            let seen = witness.all.count
            await witness.wait { $0.contains(.state(.waiting(.notMounted))) }
            #expect(!witness.all.dropFirst(seen).contains { $0.endedScan?.isComplete == true })
            #expect(witness.watcher.root == nil)
            #expect(try parent.status(of: "inbox") == nil)

            try parent.rename("elsewhere", to: "inbox")
            let gone = witness.all.count
            await witness.waitForScan(after: gone)
            #expect(
                witness.all.dropFirst(gone).contains(.scanBegan(generation: 2, afterAbsence: true))
                    || witness.all.dropFirst(gone).contains { $0.isScanned })
        }
    }

    @Test func `a folder without its mark is not the inbox`() async throws {
        var settings = InboxWatcher.Settings()
        settings.checkPause = .milliseconds(20)
        let isOurs: InboxWatcher.RootCheck = { ((try? $0.status(of: ".mark")) ?? nil) != nil }
        try await withWatcher(settings, isOurs: isOurs) { witness, path in
            await witness.wait { $0.contains(.state(.waiting(.notMounted))) }
            #expect(witness.files.isEmpty)
            let root = try Folder(at: path)
            try root.makeFile("a")
            try root.makeFile(".mark")
            await witness.waitForScan()
            #expect(witness.files == ["a"])

            try root.remove(".mark")
            let seen = witness.all.count
            await witness.wait {
                $0.dropFirst(seen).contains(.state(.waiting(.notMounted)))
            }
            #expect(!witness.all.dropFirst(seen).contains { $0.endedScan?.isComplete == true })
        }
    }

    @Test func `an inbox that nobody takes from is scanned without piling up`() async throws {
        var settings = InboxWatcher.Settings()
        settings.capacity = 32
        settings.scanBatch = 8
        try await withWatcher(settings) { witness, path in
            let root = try Folder(at: path)
            for index in 0..<500 { try root.makeFile(BytePath("\(index)")) }
            witness.watcher.rescan()
            var largest = 0
            while witness.files.count < 500, let more = await witness.watcher.next() {
                largest = max(largest, more.count)
                await witness.take(more)
            }
            #expect(largest <= 32 + 8)
        }
    }
}

extension Witness {
    fileprivate mutating func take(_ more: [InboxSighting]) async { all += more }
}
