import ChuteKit
import Testing

@testable import DropFolder

/// What only a running agent knows, judged.
struct LiveChecksTests {
    @Test func `few addresses are tried by others, and those for everybody first`() {
        let addresses = [
            "lan://192.168.1.2:4041", "127.0.0.1:4040", "192.168.1.2:4040", "[fd00::2]:4040",
            "203.0.113.5:4040", "ws://192.168.1.2:8080/chute",
        ]
        #expect(Agent.addressesToTry(addresses) == ["203.0.113.5:4040", "192.168.1.2:4040"])
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

    @Test func `what a transport waits for is the finding, and what to do about it the remedy`() {
        let status = TransportStatus(
            name: .tcp, state: .waiting,
            detail: "[::]:4040 is taken by another program: stop that one")
        let finding = LiveChecks.transport(status)
        #expect(finding?.detail == "waits: [::]:4040 is taken by another program")
        #expect(finding?.remedy == "stop that one")
    }

    @Test func `a device that shares with nobody yet has nobody to find, and nothing fails`() {
        func outcome(_ name: TransportName) -> Finding.Outcome? {
            LiveChecks.transport(
                TransportStatus(name: name, state: .waiting, detail: "shares with nobody: invite"),
                isAlone: true)?.outcome
        }
        #expect(outcome(.lan) == .note)
        #expect(outcome(.tcp) == .failed)
    }

    @Test func `a device that was removed is told so, with the way back`() {
        #expect(LiveChecks.membership(removedBy: []) == nil)
        let finding = LiveChecks.membership(removedBy: ["laptop", "pi"])
        #expect(finding?.outcome == .failed)
        #expect(finding?.detail.hasSuffix("as laptop, pi say") == true)
    }

    @Test func `clocks a minute apart fail, whichever is ahead`() {
        #expect(LiveChecks.clock("pi", lead: 59).outcome == .works)
        #expect(LiveChecks.clock("pi", lead: 60).outcome == .failed)
        #expect(LiveChecks.clock("pi", lead: -3600).outcome == .failed)
        #expect(LiveChecks.clock("pi", lead: .min + 1).outcome == .failed)
    }

    @Test func `the router has a line of its own`() {
        var configuration = Configuration()
        func finding(_ state: PortMappingState?) -> Finding {
            LiveChecks.portMapping(configuration, state)
        }
        #expect(finding(nil).outcome == .note && finding(nil).detail.hasPrefix("not needed"))
        #expect(finding(.asked).outcome == .note)
        for isReached in [true, nil] {
            let mapped = finding(.mapped(address: "192.0.2.1:4040", isReached: isReached))
            #expect(mapped.outcome == .works && mapped.detail.contains("192.0.2.1:4040"))
        }
        let vain = finding(.mapped(address: "192.0.2.1:4040", isReached: false))
        #expect(vain.outcome == .note && vain.remedy.contains("public"))
        let refused = finding(.refused("the router refuses (UPnP 718)"))
        #expect(refused.outcome == .failed && refused.remedy.contains("map_port = false"))
        #expect(finding(.unavailable("no answer")).outcome == .note)
        configuration.tcp.mapsPort = false
        #expect(finding(nil).detail.contains("map_port = false"))
        configuration.tcp.listen = .off
        #expect(finding(nil).detail.contains("takes no connections"))
    }

    @Test func `who speaks mDNS has a line of its own`() {
        var configuration = Configuration()
        func finding(_ speaker: MulticastSpeaker?, _ hasDaemon: Bool) -> Finding {
            LiveChecks.multicastDNS(configuration, speaker, hasDaemon: hasDaemon)
        }
        #expect(finding(.daemon, true).detail == "by the Avahi daemon")
        #expect(finding(.embedded, false).detail.contains("core within the agent"))
        #expect(finding(.embedded, true).detail.hasPrefix("both: "))
        let none = finding(.nobody("no socket"), false)
        #expect(none.outcome == .failed && none.detail.hasPrefix("none: "))
        #expect(none.remedy.contains("avahi-daemon"))
        #expect(finding(.nobody(nil), false).outcome == .note)
        #expect(finding(nil, true).detail.contains("the Avahi daemon runs"))
        configuration.lan.usesMDNS = false
        #expect(finding(nil, false).detail.hasPrefix("off"))
    }

    @Test func `that others dialled too often was said as if nobody were connected`() {
        func finding(_ answers: (name: String, Reachability)...) -> Finding {
            LiveChecks.dialledBack("192.0.2.1:4040", answers)
        }
        #expect(finding().detail.contains("no peer is connected"))
        let often = finding(("pi", .askedTooOften), ("nas", .silent))
        #expect(often.detail.contains("pi dialled for this device six times"))
        #expect(often.remedy.contains("in a minute"))
        #expect(finding(("pi", .notDialled)).detail.contains("pi dials no such address"))
        #expect(finding(("pi", .silent)).detail.contains("pi did not answer"))
        #expect(finding(("pi", .notReached), ("nas", .reached)).outcome == .works)
        #expect(finding(("pi", .notReached), ("nas", .askedTooOften)).detail == "not by pi")
    }
}
