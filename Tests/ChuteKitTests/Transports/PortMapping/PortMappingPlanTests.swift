import ChuteSystem
import Testing

@testable import ChuteKit

/// When a home router is asked, and when its address is told.
struct PortMappingPlanTests {
    /// A plan that can be told things within an expectation.
    private final class Planner {
        private var plan = PortMappingPlan()

        var address: SocketAddress? { plan.address }
        var mapping: PortMapping? { plan.mapping }
        var words: String? { plan.words }
        var wakeAt: Duration? { plan.wakeAt }

        @discardableResult
        func handle(
            _ event: PortMappingPlan.Event, now: Duration
        ) -> [PortMappingPlan.Effect] {
            plan.handle(event, now: now)
        }
    }

    private let gateway = DefaultGateway(address: "192.168.1.1", interface: "eth0")
    private var place: PortMappingPlan.Place { .init(port: 4040, gateway: gateway) }
    private let one = DeviceID(publicKey: [1])
    private let two = DeviceID(publicKey: [2])
    private let hour = Duration.seconds(3600)

    private func mapping(_ external: String = "192.0.2.1:4040") throws -> PortMapping {
        PortMapping(
            method: .natPMP, gateway: gateway, internalPort: 4040,
            external: try #require(SocketAddress(external)), lease: hour)
    }

    /// One that has a mapping since the start, and this many connected devices.
    private func mapped(_ connected: Set<DeviceID> = []) throws -> Planner {
        let plan = Planner()
        #expect(plan.handle(.connected(connected), now: .zero) == [])
        #expect(plan.handle(.found(place), now: .zero) == [.ask(place, external: 4040)])
        #expect(plan.wakeAt == nil)
        let effects = plan.handle(.answered(place, .success(try mapping())), now: .zero)
        #expect(
            effects == (connected.isEmpty ? [] : [.haveDialled(try mapping().external)]))
        return plan
    }

    @Test func `nothing is asked where nothing is to be mapped`() {
        let plan = Planner()
        #expect(plan.handle(.found(nil), now: .zero) == [])
        #expect(plan.handle(.connected([one]), now: .zero) == [])
        #expect(plan.wakeAt == nil)
        #expect(plan.words == nil)
    }

    @Test func `an address is told once a connected device got through, and not before`() throws {
        let plan = try mapped()
        #expect(plan.address == nil)
        #expect(plan.words == "192.0.2.1:4040 by the router, which no peer has tried yet")
        let external = try mapping().external
        #expect(plan.handle(.connected([one]), now: .seconds(5)) == [.haveDialled(external)])
        #expect(plan.handle(.dialled(external, false), now: .seconds(6)) == [])
        #expect(plan.address == nil)
        #expect(plan.words == "192.0.2.1:4040 by the router, where no peer gets through")
        // It is tried again after a while, and at once by somebody else.
        #expect(plan.wakeAt == .seconds(7))
        #expect(
            plan.handle(.connected([one, two]), now: .seconds(7)) == [.haveDialled(external)])
        #expect(plan.handle(.dialled(external, true), now: .seconds(8)) == [])
        #expect(plan.address == external)
        #expect(plan.words == "192.0.2.1:4040 by the router")
        #expect(plan.handle(.connected([]), now: .seconds(9)) == [])
        #expect(plan.address == external)
        #expect(plan.wakeAt == hour / 2)
    }

    @Test func `who says nothing is asked again after growing pauses`() throws {
        let plan = try mapped([one])
        let external = try mapping().external
        var now = Duration.zero
        for pause in PortMappingPlan.dialPauses {
            let word: Bool? = pause < .seconds(60) ? nil : false
            #expect(plan.handle(.dialled(external, word), now: now) == [])
            #expect(plan.wakeAt == now + pause)
            #expect(plan.handle(.woken, now: now + pause - .seconds(1) / 2) == [])
            now += pause
            #expect(plan.handle(.woken, now: now) == [.haveDialled(external)])
        }
        // Who comes while somebody dials is asked as soon as that one has answered.
        #expect(plan.handle(.connected([one, two]), now: now) == [])
        #expect(plan.handle(.dialled(external, false), now: now) == [.haveDialled(external)])
    }

    @Test func `a mapping is renewed at half of its lease, and stays verified`() throws {
        let plan = try mapped([one])
        plan.handle(.dialled(try mapping().external, true), now: .zero)
        #expect(plan.wakeAt == hour / 2)
        #expect(plan.handle(.woken, now: hour / 2) == [.ask(place, external: 4040)])
        #expect(plan.handle(.answered(place, .success(try mapping())), now: hour / 2) == [])
        #expect(plan.address == (try mapping().external))
        #expect(plan.wakeAt == hour)
    }

    @Test func `another outer address has to be verified anew`() throws {
        let plan = try mapped([one])
        plan.handle(.dialled(try mapping().external, true), now: .zero)
        plan.handle(.woken, now: hour / 2)
        let other = try mapping("192.0.2.2:4041")
        #expect(
            plan.handle(.answered(place, .success(other)), now: hour / 2) == [
                .remove(try mapping()), .haveDialled(other.external),
            ])
        #expect(plan.address == nil)
        // What was found of the old one says nothing.
        #expect(plan.handle(.dialled(try mapping().external, true), now: hour / 2) == [])
        #expect(plan.address == nil)
    }

    @Test func `a router that does not answer keeps a mapping until its lease ends`() throws {
        let plan = try mapped([one])
        plan.handle(.dialled(try mapping().external, true), now: .zero)
        plan.handle(.woken, now: hour / 2)
        let silence = PortMappingError.noAnswer(gateway: gateway.address)
        #expect(plan.handle(.answered(place, .failure(silence)), now: hour / 2) == [])
        #expect(plan.address == (try mapping().external))
        #expect(plan.wakeAt == hour / 2 + .seconds(30))
        #expect(plan.handle(.woken, now: hour) == [.ask(place, external: 4040)])
        #expect(plan.handle(.answered(place, .failure(silence)), now: hour) == [])
        #expect(plan.address == nil)
        #expect(
            plan.words
                == "no port at the router: 192.168.1.1 answers neither NAT-PMP nor UPnP")
    }

    @Test func `a router that refuses is asked after growing pauses, or when the network changes`()
        throws
    {
        let plan = Planner()
        plan.handle(.found(place), now: .zero)
        let refusal = PortMappingError.refused(.upnp, code: 606)
        var now = Duration.zero
        for pause in PortMappingPlan.askPauses + [.seconds(600)] {
            #expect(plan.handle(.answered(place, .failure(refusal)), now: now) == [])
            #expect(plan.wakeAt == now + pause)
            now += pause
            #expect(plan.handle(.woken, now: now) == [.ask(place, external: 4040)])
        }
        #expect(plan.handle(.answered(place, .failure(refusal)), now: now) == [])
        #expect(plan.handle(.found(place), now: now + .seconds(1)) == [])
        #expect(plan.wakeAt == now + PortMappingPlan.leastPause)
        now += PortMappingPlan.leastPause
        #expect(plan.handle(.woken, now: now) == [.ask(place, external: 4040)])
    }

    @Test func `another network drops what was mapped, another port takes it back`() throws {
        var plan = try mapped([one])
        let elsewhere = PortMappingPlan.Place(
            port: 4040, gateway: DefaultGateway(address: "10.0.0.1", interface: "wlan0"))
        #expect(
            plan.handle(.found(elsewhere), now: .seconds(1)) == [.ask(elsewhere, external: 4040)])
        #expect(plan.mapping == nil)
        plan = try mapped([one])
        let moved = PortMappingPlan.Place(port: 4041, gateway: gateway)
        #expect(
            plan.handle(.found(moved), now: .seconds(1)) == [
                .remove(try mapping()), .ask(moved, external: 4041),
            ])
        plan = try mapped([one])
        #expect(plan.handle(.found(nil), now: .seconds(1)) == [.remove(try mapping())])
        #expect(plan.words == nil)
        #expect(plan.wakeAt == nil)
    }

    @Test func `an answer that comes too late is taken back`() throws {
        let plan = Planner()
        #expect(plan.handle(.found(place), now: .zero) == [.ask(place, external: 4040)])
        #expect(plan.handle(.found(nil), now: .zero) == [])
        #expect(
            plan.handle(.answered(place, .success(try mapping())), now: .zero)
                == [.remove(try mapping())])
        #expect(plan.mapping == nil)
        #expect(plan.wakeAt == nil)
    }

    @Test(arguments: [
        ("[::]:4040", true), ("0.0.0.0:4040", true), ("192.168.1.2:4040", true),
        ("127.0.0.1:4040", false), ("[::1]:4040", false), ("[fd00::1]:4040", false),
        ("169.254.1.1:4040", false), ("192.0.2.1:4040", false),
    ])
    func `only an IPv4 port that others reach is mapped`(_ own: String, _ isMappable: Bool) throws {
        let own = try #require(SocketAddress(own))
        #expect(PortMappingRun.isMappable(own) == isMappable)
    }
}
