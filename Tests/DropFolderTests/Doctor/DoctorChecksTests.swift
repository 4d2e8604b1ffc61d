import ChuteKit
import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import DropFolder

struct DoctorChecksTests {
    @Test func `few addresses are tried by others, and those for everybody first`() {
        let addresses = [
            "lan://192.168.1.2:4041", "127.0.0.1:4040", "192.168.1.2:4040", "[fd00::2]:4040",
            "203.0.113.5:4040", "ws://192.168.1.2:8080/chute",
        ]
        #expect(Agent.addressesToTry(addresses) == ["203.0.113.5:4040", "192.168.1.2:4040"])
    }

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

    @Test func `a transport that is switched on and does not run fails, one that is off does not`()
    {
        func finding(_ state: TransportStatus.State) -> Finding? {
            LiveChecks.transport(TransportStatus(name: .tcp, state: state, detail: "why"))
        }
        #expect(finding(.running)?.outcome == .works)
        for state in [TransportStatus.State.waiting, .impossible, .stopped] {
            #expect(finding(state)?.outcome == .failed)
            #expect(finding(state)?.remedy.isEmpty == false)
        }
        #expect(finding(.off) == nil && finding(.notBuilt) == nil)
    }

    @Test func `little space, few inodes and a read-only outbox fail`() {
        #expect(outcome("outbox", info(free: 2000)) == .works)
        #expect(outcome("outbox", info(free: 999)) == .failed)
        #expect(outcome("inbox", info(free: 999)) == .works)
        #expect(outcome("outbox", info(free: 2000, files: 10)) == .failed)
        #expect(outcome("outbox", info(free: 2000, isReadOnly: true)) == .failed)
        #expect(outcome("inbox", info(free: 2000, isReadOnly: true)) == .works)
        let gone = FolderCheck(use: "inbox", path: "/f", facts: .unreachable("no such folder"))
        #expect(gone.findings.map(\.outcome) == [.failed])
    }

    @Test func `clocks a minute apart fail, whichever is ahead`() {
        #expect(LiveChecks.clock("pi", lead: 59).outcome == .works)
        #expect(LiveChecks.clock("pi", lead: 60).outcome == .failed)
        #expect(LiveChecks.clock("pi", lead: -3600).outcome == .failed)
        #expect(LiveChecks.clock("pi", lead: .min + 1).outcome == .failed)
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
        var probe = MulticastProbe()
        let configuration = Configuration()
        #expect(SystemChecks.multicast(probe, configuration).outcome == .failed)
        probe.heardItself = true
        let alone = SystemChecks.multicast(probe, configuration)
        #expect(alone.outcome == .note && alone.remedy.contains("client isolation"))
        probe.others = ["10.0.0.2"]
        #expect(SystemChecks.multicast(probe, configuration).outcome == .works)
        probe.failure = SystemError(code: EADDRINUSE, call: "bind")
        #expect(SystemChecks.multicast(probe, configuration).outcome == .failed)
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
            #expect(checks.map(\.use) == ["home", "outbox"])
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
