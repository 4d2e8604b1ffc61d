import ChuteSystem
import DropFolder
import Testing

@testable import chute

struct StatusTextTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func text(
        _ report: StatusReport, _ terminal: Terminal = .none
    ) -> String {
        StatusText(report: report, terminal: terminal, now: now, userFolder: "/home/u").text
    }

    private var busy: StatusReport {
        var report = StatusReport(device: .init(id: "AAAA-BBBB", name: "laptop"), running: true)
        report.peers = [
            .init(
                id: "P1", name: "pi", role: "member", connected: true, transport: "tcp",
                address: "10.0.0.2:4040"),
            .init(
                id: "P2", name: "de\u{1B}[2Jsk", role: "owner", connected: false,
                lastSeen: Timestamp(seconds: 1_700_000_000 - 7300)),
        ]
        var folder = StatusReport.FolderState(
            collection: "pics", inbox: "/home/u/Pics/inbox", outbox: "/mnt/out", state: "running")
        folder.shared = 20
        folder.delivered = 4
        folder.pending = 3
        var delivery = StatusReport.Delivery(id: "P1")
        delivery.delivered = 16
        delivery.pending = 3
        delivery.refused = 1
        delivery.bytesPending = 4_200_000
        folder.peers = [delivery]
        folder.skipped = [
            .init(
                path: BytePath(bytes: Array("a\n".utf8) + [0xFF]), reason: "too-large",
                detail: "over 4 GiB")
        ]
        folder.skippedTotal = ["too-large": 1, "hidden": 12]
        report.folders = [folder]
        report.transfers = [
            .init(
                id: "1", name: "a.jpg", peer: "pi", direction: .outgoing, done: 500_000,
                total: 1_000_000),
            .init(
                id: "2", name: "b.mov", peer: "pi", direction: .incoming, done: 3_000_000,
                total: 3_000_001),
        ]
        return report
    }

    @Test func `off a terminal there are words and no bars`() {
        #expect(
            text(busy) == """
                laptop is running  (AAAA-BBBB)

                peers
                  pi             member  connected by tcp 10.0.0.2:4040
                  de\\u{1b}[2Jsk  owner   last seen 2 h ago

                pics
                  inbox   ~/Pics/inbox  20 shared, 3 pending
                  outbox  /mnt/out      4 delivered here
                  to pi  16 delivered, 3 pending (4.2 MB), 1 refused
                  skipped: 12 hidden, 1 too-large
                    a\\x0a\\xff  too-large  over 4 GiB
                    ... see `chute list --skipped`

                transfers
                  together        87 %  3.5 MB of 4.0 MB
                  b.mov from pi   99 %  3.0 MB of 3.0 MB
                  a.jpg to pi     50 %  500 KB of 1.0 MB

                next: nothing to do, 3 files are on their way; where they do not come, `chute status` at pi says why

                """)
    }

    @Test func `what is shared with a doubt, or waits, was listed as skipped`() {
        var report = busy
        report.transfers = []
        report.folders[0].pending = 0
        report.folders[0].skipped += [
            .init(path: "cut.jpg", reason: "possibly-truncated", detail: "d", kind: .doubtful),
            .init(path: "big.mov", reason: "no-space", detail: "full", kind: .waiting),
            .init(path: "pi", reason: "clock", detail: "2 days behind", kind: .clock),
        ]
        report.folders[0].skippedTotal.merge(
            ["possibly-truncated": 1, "no-space": 1, "clock": 1]) { $0 + $1 }
        report.folders[0].apart = [
            .doubtful: ["possibly-truncated": 1], .waiting: ["no-space": 1], .clock: ["clock": 1],
        ]
        #expect(
            text(report).contains(
                """
                  skipped: 12 hidden, 1 too-large
                    a\\x0a\\xff  too-large  over 4 GiB
                    ... see `chute list --skipped`
                  shared, but look at it: 1 possibly-truncated
                    cut.jpg  possibly-truncated  d
                  waiting: 1 no-space
                    big.mov  no-space  full
                  clocks: 1 clock
                    pi  clock  2 days behind

                """))
        let list = DocumentList(skipped: report.folders[0].skipped)
        #expect(
            ListText.text(list, onlySkipped: true) == """
                skipped
                  a\\x0a\\xff  too-large  over 4 GiB

                shared, but look at it
                  cut.jpg  possibly-truncated  d

                waiting
                  big.mov  no-space  full

                clocks
                  pi  clock  2 days behind

                """)
    }

    @Test func `everything was said to be delivered while something was open`() {
        var report = busy
        report.transfers = []
        report.peers[1].connected = true
        report.folders[0].pending = 0
        report.folders[0].peers = []
        #expect(NextStep.of(report) == nil)
        report.folders[0].settling = 2
        #expect(
            NextStep.of(report)
                == "nothing to do, 2 files in the inbox are shared once they are whole")
        report.folders[0].settling = 0
        report.folders[0].apart = [.waiting: ["busy": 1]]
        #expect(
            NextStep.of(report)
                == "nothing to do, 1 file in the inbox is shared once it is whole")
        report.folders[0].coming = 3
        #expect(
            NextStep.of(report)
                == "nothing to do, 3 files of others are still to come; "
                + "1 file in the inbox is shared once it is whole")
        report.folders[0].apart = [.waiting: ["no-space": 1]]
        report.folders[0].coming = 0
        #expect(NextStep.of(report) == "1 file of others waits, see above")
        report.folders[0].apart = [.waiting: ["no-source": 1]]
        report.folders[0].coming = 1
        #expect(NextStep.of(report) == "1 file of others waits, see above")
    }

    @Test func `a removed device is not sent to its network`() {
        var report = busy
        report.peers[0].connected = false
        #expect(NextStep.of(report)?.contains("network") == true)
        report.removedBy = ["pi"]
        #expect(
            NextStep.of(report)?.contains("removed from the space, as pi says: run `chute leave`")
                == true)
        report.removedBy = []
        #expect(NextStep.of(report)?.contains("removed from the space: run") == true)
    }

    @Test func `the list shows as much of an id as tells it from the others`() {
        func list(_ ids: String...) -> [String] {
            let documents = ids.map {
                DocumentList.Document(
                    id: $0, collection: "pics", name: "a.jpg", type: "image/jpeg", size: 1,
                    origin: "pi", state: "delivered")
            }
            return ListText.text(DocumentList(documents: documents), onlySkipped: false)
                .split(separator: "\n").map { String($0.prefix { $0 != " " }) }
        }
        let one = "5f3a9c0d" + String(repeating: "1", count: 56)
        let other = "5f3a9c0d" + String(repeating: "2", count: 56)
        #expect(list(one, "00112233" + one.dropFirst(8)) == ["5f3a9c0d", "00112233"])
        #expect(list(one, other) == ["5f3a9c0d11", "5f3a9c0d22"])
        #expect(list(one, one) == ["5f3a9c0d", "5f3a9c0d"])
        #expect(list() == ["no"])
    }

    @Test func `on a terminal there are bars, and colour only where it is wanted`() {
        let plain = text(busy, Terminal(isTerminal: true, width: 72))
        #expect(plain.contains("a.jpg to pi    [########--------]  50 %"))
        #expect(plain.contains("together       [#############---]  87 %"))
        #expect(!plain.contains("\u{1B}"))
        let coloured = text(busy, Terminal(isTerminal: true, width: 72, hasColour: true))
        #expect(coloured.contains("\u{1B}[32mrunning\u{1B}[0m"))
    }

    @Test func `before the first run there is no id to show`() {
        let report = StatusReport(device: .init(id: "", name: "a"), running: false)
        #expect(text(report).hasPrefix("a is not running\n"))
    }

    @Test func `the next sensible step follows from the state`() {
        var report = StatusReport(device: .init(id: "A", name: "a"), running: false)
        #expect(NextStep.of(report)?.contains("chute run") == true)
        report.running = true
        #expect(NextStep.of(report)?.contains("[[folder]]") == true)
        report.folders = [
            .init(collection: "pics", inbox: "/in", state: "waiting: not mounted")
        ]
        #expect(NextStep.of(report) == "pics is waiting: not mounted")
        report.folders[0].state = "waiting: not-mounted"
        #expect(NextStep.of(report)?.contains("mount its drive, or name another folder") == true)
        report.folders[0].state = "waiting: held-elsewhere"
        #expect(NextStep.of(report)?.contains("stop that one") == true)
        report.folders[0].state = "running"
        #expect(NextStep.of(report) == "no peers yet: run `chute invite`")
        report.peers = [.init(id: "P", name: "pi", role: "member", connected: false)]
        #expect(NextStep.of(report)?.contains("no peer is connected") == true)
        report.peers[0].connected = true
        #expect(NextStep.of(report) == "drop a file into /in")
        report.folders[0].shared = 1
        #expect(NextStep.of(report) == nil)
        report.folders[0].pending = 1
        report.folders[0].peers = [.init(id: "P")]
        report.folders[0].peers[0].pending = 1
        #expect(
            NextStep.of(report)
                == "nothing to do, 1 file is on its way; where they do not come, `chute status` at "
                + "pi says why")
        report.peers[0].connected = false
        report.peers.append(.init(id: "Q", name: "q", role: "member", connected: true))
        #expect(
            NextStep.of(report) == "nothing to do, the rest goes to pi when connected again")
    }

    @Test(arguments: [(0, 0, 100), (0, 5, 0), (999, 1000, 99), (1000, 1000, 100), (6, 5, 100)])
    func `a hundred percent means all`(done: UInt64, total: UInt64, percent: Int) {
        #expect(ProgressBar.percent(done, of: total) == percent)
        #expect(ProgressBar.bar(done, of: total, width: 10).count == 12)
    }

    @Test func `a ticket is shown as code and as a line to copy`() {
        let invitation = Invitation(
            id: "7K", ticket: "chute1:" + String(repeating: "a", count: 120), role: "member",
            usesLeft: 1, expires: now)
        let wide = InvitationText.text(
            invitation, expires: .seconds(900), terminal: Terminal(isTerminal: true, width: 100))
        #expect(wide.contains("█"))
        #expect(wide.contains("  chute join \(invitation.ticket ?? "")\n"))
        #expect(wide.contains("Good for one device as member, for 15 min."))
        let narrow = InvitationText.text(
            invitation, expires: .seconds(900), terminal: Terminal(isTerminal: true, width: 20))
        #expect(!narrow.contains("█"))
    }

    @Test(
        arguments: [
            (JoinFailure.expired, 1, "expired"), (.usedUp, 1, "used up"), (.revoked, 1, "revoked"),
            (.wrongDevice(address: "1.2.3.4:5"), 1, "1.2.3.4:5"),
            (.unreachable(addresses: ["1.2.3.4:5", "[::1]:6"]), 69, "1.2.3.4:5, [::1]:6"),
            (.inSpaceWithOthers(members: 2), 1, "chute leave"), (.notATicket, 1, "chute1:"),
            (.sharedKeySpace, 1, "copy the key file"),
        ] as [(JoinFailure, Int32, String)])
    func `each reason not to join has its code and its remedy`(
        failure: JoinFailure, code: Int32, words: String
    ) {
        let error = JoinCommand.error(failure)
        #expect(error.code.rawValue == code)
        #expect(error.message.contains(words))
    }
}
