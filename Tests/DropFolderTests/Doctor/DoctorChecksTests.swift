import ChuteKit
import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import DropFolder

struct DoctorChecksTests {
    private func info(free: UInt64, files: UInt64? = nil, isReadOnly: Bool = false)
        -> FileSystemInfo
    {
        FileSystemInfo(
            type: 0xEF53, id: 1, freeBytes: free, freeFiles: files, isReadOnly: isReadOnly)
    }

    private func outcome(_ use: String, _ info: FileSystemInfo, minFree: UInt64 = 1000)
        -> Finding.Outcome?
    {
        FolderCheck(
            use: use, path: "/f",
            facts: .found(.init(info: info, abilities: nil, foldsCase: nil, minFree: minFree))
        ).findings.first?.outcome
    }

    @Test func `little space, few inodes and a read-only outbox fail`() {
        #expect(outcome("outbox", info(free: 2000)) == .works)
        #expect(outcome("outbox", info(free: 999)) == .failed)
        #expect(outcome("inbox", info(free: 999)) == .works)
        #expect(outcome("outbox", info(free: 2000, files: 10)) == .failed)
        #expect(outcome("outbox", info(free: 2000, isReadOnly: true)) == .failed)
        #expect(outcome("inbox", info(free: 2000, isReadOnly: true)) == .works)
        let gone = FolderCheck(
            use: "inbox", path: "/f",
            facts: .unreachable(.init(error: SystemError(code: ENOENT, call: "open"))))
        #expect(gone.findings.map(\.outcome) == [.failed])
        #expect(gone.findings[0].remedy.contains("mount the drive"))
    }

    @Test func `a closed inbox was to be mounted`() async throws {
        func remedy(_ use: String, _ closed: FolderRefusal.Closed) -> String {
            FolderRefusal(error: SystemError(code: EACCES, call: "open"), closed: closed).remedy(
                use)
        }
        #expect(
            remedy("inbox", .init(path: "/my in", isOwn: true)) == "let this user in: chmod u+rx "
                + "'/my in'")
        #expect(remedy("outbox", .init(path: "/o", isOwn: true)).contains("chmod u+rwx /o"))
        #expect(remedy("inbox", .init(path: "/o", isOwn: false)).contains("sudo chown"))
        // Who is closed out by one above is told of that one.
        try await withTemporaryDirectory { folder in
            let error = SystemError(code: EACCES, call: "open")
            #expect(
                FolderRefusal.of(folder.appending("not/there"), error).closed
                    == .init(path: folder, isOwn: true))
            #expect(FolderRefusal.of(folder, SystemError(code: EIO, call: "open")).closed == nil)
        }
    }

    @Test func `an outbox that cannot be written fails, an inbox does not`() {
        func outcome(_ use: String) -> Finding? {
            FolderCheck(
                use: use, path: "/f",
                facts: .found(
                    .init(
                        info: info(free: 2000), abilities: nil, foldsCase: nil, minFree: 0,
                        writing: .init(
                            error: SystemError(code: EACCES, call: "access"),
                            closed: .init(path: "/f", isOwn: true))))
            ).findings.first
        }
        #expect(outcome("inbox")?.outcome == .works)
        for use in ["outbox", "staging", "home"] {
            #expect(outcome(use)?.outcome == .failed)
            #expect(outcome(use)?.remedy.contains("chmod u+rwx /f") == true)
        }
    }

    @Test func `files that are staged on another file system than their outbox fail`() {
        func finding(isApart: Bool) -> Finding? {
            FolderCheck(
                use: "staging", path: "/f/.chute/staging",
                facts: .found(
                    .init(
                        info: info(free: 2000), abilities: nil, foldsCase: nil, minFree: 0,
                        isApart: isApart))
            ).findings.first
        }
        #expect(finding(isApart: true)?.outcome == .failed)
        #expect(finding(isApart: true)?.remedy.isEmpty == false)
        #expect(finding(isApart: false)?.outcome == .works)
        #expect(finding(isApart: false)?.detail.contains("on its outbox's file system") == true)
    }

    @Test(.enabled(if: canMount, "needs root"))
    func `staging is looked at where it is mounted apart`() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("out")
            let root = try FolderRoot.establish(at: path, use: .init(.outbox, space: nil))
            _ = try root.privateFolder("staging")
            var configuration = Configuration()
            configuration.folders = [FolderSettings(collection: "pics", outbox: path)]
            configuration.folders[0].minFree = 0
            let home = try Home.locate(
                folder, environment: ProcessEnvironment([:]), currentFolder: folder)
            try Folder.make(home.stateFolder)
            func staging() -> Finding? {
                FolderProbe(configuration: configuration, home: home).checks()
                    .first { $0.use == "staging" }?.findings.first
            }
            #expect(staging()?.outcome == .works)
            let point = path.appending(".chute/staging")
            try mountTmpfs(point, "size=64k")
            let apart = staging()
            try unmount(point)
            #expect(apart?.outcome == .failed)
            #expect(apart?.detail.contains("another file system") == true)
        }
    }

    @Test func `too few watches fail with the command that raises them`() {
        typealias Facts = SystemChecks.InotifyFacts
        #expect(SystemChecks.inotify(Facts(watchLimit: 100, folderCount: 89)).outcome == .works)
        let few = SystemChecks.inotify(Facts(watchLimit: 100, folderCount: 90))
        #expect(few.outcome == .failed && few.remedy.contains("max_user_watches=360"))
        let none = SystemChecks.inotify(
            Facts(failure: SystemError(code: EMFILE, call: "inotify_init1")))
        #expect(none.outcome == .failed && none.remedy.contains("max_user_instances"))
    }

    @Test func `silence of others on the network is said, and no failure`() {
        for family in [MulticastProbe.Family.v4, .v6] {
            var probe = MulticastProbe()
            func finding() -> Finding {
                SystemChecks.multicast(probe, family, other: MulticastProbe())
            }
            probe.hasInterface = true
            #expect(finding().outcome == .failed)
            probe.heardItself = true
            #expect(finding().outcome == .note && finding().remedy.contains("client isolation"))
            probe.others = ["10.0.0.2"]
            #expect(finding().outcome == .works)
            probe.failure = SystemError(code: EADDRINUSE, call: "bind")
            #expect(finding().outcome == .failed)
        }
    }

    @Test func `without IPv6 multicast the other one is enough, and none at all fails`() {
        var works = MulticastProbe()
        (works.hasInterface, works.heardItself, works.others) = (true, true, ["10.0.0.2"])
        var fails = MulticastProbe()
        fails.failure = SystemError(code: EAFNOSUPPORT, call: "socket")
        #expect(SystemChecks.multicast(fails, .v6, other: works).outcome == .note)
        #expect(SystemChecks.multicast(fails, .v6, other: fails).outcome == .failed)
        #expect(SystemChecks.multicast(fails, .v4, other: works).outcome == .failed)
        fails.failure = SystemError(code: EADDRNOTAVAIL, call: "sendto")
        #expect(SystemChecks.multicast(fails, .v6, other: fails).remedy.contains("ask again"))
        let none = MulticastProbe()
        #expect(SystemChecks.multicast(none, .v4, other: none).outcome == .failed)
        #expect(SystemChecks.multicast(none, .v6, other: none).outcome == .note)
        #expect(SystemChecks.multicast(none, .v4, other: works).outcome == .note)
    }

    @Test func `both kinds of addresses are tried on the network`() async {
        let hasIPv6 = InterfaceAddress.all().contains { !$0.isLoopback && $0.isIPv6 }
        let probe = await MulticastProbe.run(.v6, for: .milliseconds(300))
        #expect(probe.hasInterface == hasIPv6 || probe.failure != nil)
    }

    @Test func `what a folder's file system can do is tried, and nothing is left of it`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("out")
            let root = try FolderRoot.establish(at: path, use: .init(.outbox, space: nil))
            var configuration = Configuration()
            configuration.folders = [FolderSettings(collection: "pics", outbox: path)]
            let home = try Home.locate(
                folder, environment: ProcessEnvironment([:]), currentFolder: folder)
            try Folder.make(home.stateFolder)
            let checks = FolderProbe(configuration: configuration, home: home).checks()
            #expect(checks.map(\.use) == ["home", "outbox"], "nothing was staged yet")
            guard case .found(let found) = checks[1].facts else {
                Issue.record("the outbox is there")
                return
            }
            #expect(found.foldsCase == false && found.abilities != nil)
            #expect(try root.folder.folder(at: ".chute").status(of: "doctor") == nil)
        }
    }

    @Test func `a finding arrives as it was said, and types are told`() {
        let finding = Finding.failed("a", "b", "c")
        #expect(Finding(finding.value) == finding)
        #expect(Finding(.null) == nil)
        #expect(SystemChecks.types().outcome == .works)
        #expect(SystemChecks.libraries().detail.contains("SQLite 3"))
    }
}
