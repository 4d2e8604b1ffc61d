import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct OutboxFaultTests {
    @Test func `after a failed sync every file of the group is to be written anew`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let items = [try bench.item("a", "x"), try bench.item("b", "y")]
            let group = bench.publisher.begin(items, now: OutboxBench.now)
            // A sync of /dev/null is an error, as one of a broken disk.
            let broken = try FileDescriptor.open("/dev/null", O_RDWR)
            try items[1].staged.descriptor.become(broken)
            group.sync()
            #expect(group.intents().isEmpty)
            for outcome in group.outcomes {
                guard case .failed(let failure) = outcome else {
                    Issue.record("published after a failed sync")
                    continue
                }
                #expect(failure.reason == .mustRewrite)
            }
            #expect(try bench.names().isEmpty)
            try items[0].staged.discard()
            let again = try bench.item("a", "x", durability: .rewritten)
            #expect(try await bench.publish([again]).map(OutboxBench.path) == ["a"])
        }
    }

    @Test func `a staged file that vanished is to be written anew`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let item = try bench.item("a", "x")
            let group = bench.publisher.begin([item], now: OutboxBench.now)
            group.sync()
            _ = group.intents()
            try item.staged.discard()
            group.rename()
            #expect(group.outcomes == [.failed(PublishFailure(.mustRewrite))])
        }
    }

    @Test func `after its group's sync nobody can write to a staged file`() async throws {
        try await withTemporaryDirectory { top in
            let bench = try OutboxBench(at: top)
            let item = try bench.item("a", "x")
            try await bench.publish([item])
            #expect(throws: SystemError.self) { try item.staged.descriptor.write([0], at: 0) }
            let file = try bench.root.folder.open("a", O_RDONLY)
            // A child that another test has just started has it open until it is its own program.
            try await eventually("nobody has it open for writing") { file.hasWriter() != true }
        }
    }

    @Test(.enabled(if: canMount, "needs a mount"))
    func `a full outbox is no space, and works again afterwards`() async throws {
        try await withTmpfs("size=4m,nr_inodes=24") { point in
            let bench = try OutboxBench(at: point)
            let item = try bench.item("pi/a", "x")
            var count = 0
            do {
                while count < 100 {
                    _ = try bench.staging.create(BytePath("fill\(count)"))
                    count += 1
                }
                Issue.record("never full")
            } catch let error as SystemError {
                #expect(error.isNoSpace)
            }
            guard case .failed(let failure)? = try await bench.publish([item]).first else {
                Issue.record("published")
                return
            }
            #expect(failure.reason == .noSpace)
            #expect(try item.staged.isStaged())
            for number in 0..<count { try bench.staging.folder.remove(BytePath("fill\(number)")) }
            #expect(try await bench.publish([item]).map(OutboxBench.path) == ["pi/a"])
            #expect(try bench.read("pi/a") == "x")
        }
    }

    @Test(.enabled(if: canMount, "needs a mount"))
    func `without room to keep the old version it stays in its place`() async throws {
        try await withTmpfs("size=4m,nr_inodes=24") { point in
            let bench = try OutboxBench(at: point)
            let old = try await bench.deliver("a", "one").copy
            let item = try bench.item("a", "two", replacing: old)
            var count = 0
            while (try? bench.staging.create(BytePath("fill\(count)"))) != nil { count += 1 }
            guard case .failed(let failure)? = try await bench.publish([item]).first else {
                Issue.record("published")
                return
            }
            #expect(failure.reason == .noSpace)
            #expect(try bench.read("a") == "one")
            #expect(try item.staged.isStaged())
        }
    }

    @Test(.enabled(if: canMount, "needs a mount"))
    func `a read-only outbox refuses and keeps the staged file`() async throws {
        try await withTmpfs("size=4m") { point in
            let bench = try OutboxBench(at: point)
            var item: PublishItem? = try bench.item("a", "x")
            let group = bench.publisher.begin([try #require(item)], now: OutboxBench.now)
            group.sync()
            #expect(group.intents().count == 1)
            try makeReadOnly(point)
            group.rename()
            guard case .failed(let failure)? = group.outcomes.first else {
                Issue.record("published")
                return
            }
            #expect(failure.reason == .refused)
            #expect(failure.error?.code == EROFS)
            item = nil
        }
    }

    @Test(.enabled(if: canMount, "needs a mount"))
    func `a read-only root is known by its place`() async throws {
        try await withTmpfs("size=4m") { point in
            try makeReadOnly(point)
            let root = try FolderRoot.establish(at: point, use: .init(.inbox, space: nil))
            guard case .place = root.identity else {
                Issue.record("marked")
                return
            }
            #expect(RootIdentity(text: root.identity.text) == root.identity)
            #expect(root.isInPlace())
            guard case .ready = try FolderRoot.open(at: point, expected: root.identity) else {
                Issue.record("not ready")
                return
            }
        }
    }

    @Test(.enabled(if: canMount, "needs a mount"))
    func `an outbox whose volume is unmounted gets nothing`() async throws {
        try await withTemporaryDirectory { top in
            let point = top.appending("mount")
            try Folder(at: top).makeFolder("mount")
            try mountTmpfs(point, "size=4m")
            let bench = try OutboxBench(at: point)
            let item = try bench.item("a", "x")
            try unmount(point)
            #expect(try await bench.publish([item]) == [.failed(PublishFailure(.notMounted))])
            #expect(try Folder(at: point).entries().isEmpty)
            guard case .notMounted = try FolderRoot.open(at: point, expected: bench.root.identity)
            else {
                Issue.record("opened")
                return
            }
        }
    }

    @Test(.enabled(if: canMount, "needs a mount"))
    func `a folder of another mount is passed by`() async throws {
        try await withTmpfs("size=4m") { point in
            let bench = try OutboxBench(at: point)
            try bench.root.folder.makeFolder("pi")
            let inner = point.appending("pi")
            try mountTmpfs(inner, "size=4m")
            let outcomes = try await bench.publish([bench.item("pi/a", "x")])
            try unmount(inner)
            #expect(outcomes.map(OutboxBench.path) == ["pi (2)/a"])
        }
    }
}
