import ChuteSystem
import Testing

@testable import ChuteKit

struct LANViewTests {
    private static let laptop = DeviceID(Digest(hashing: Array("laptop".utf8)))
    private static let pi = DeviceID(Digest(hashing: Array("pi".utf8)))
    private static let key = [UInt8](repeating: 1, count: 32)
    private static let discovery = Discovery(
        key: key, isOpen: false, device: laptop, members: [pi])

    private static func address(_ interface: String, _ index: Int32, _ host: String)
        -> InterfaceAddress
    {
        InterfaceAddress(
            interface: interface, index: index, isLoopback: interface == "lo",
            address: SocketAddress(host: host, port: 0))
    }

    /// A laptop on a network and on a link of its own, in a space with a pi, as the daemon runs.
    private static func view(_ transport: LANTransport = LANTransport()) -> LANView {
        var view = LANView(transport, names: LANNames())
        view.listening = SocketAddress(host: "::", port: 4042)
        view.take([
            address("lo", 1, "127.0.0.1"), address("lo", 1, "::1"),
            address("eth0", 2, "192.168.1.5"), address("eth0", 2, "2001:db8::5"),
            address("eth0", 2, "fe80::5%eth0"), address("awdl0", 3, "fe80::6%awdl0"),
        ])
        view.discovery = .some(discovery)
        view.multicast.speaker = .daemon
        view.multicast.announcing = .established
        return view
    }

    private static func sighting(
        of device: DeviceID, at host: String, port: UInt16 = 4041, key: [UInt8] = key
    ) -> ServiceSighting {
        let record = DiscoveryRecord(
            of: Discovery(key: key, isOpen: false, device: device, members: []),
            nonce: [UInt8](repeating: 3, count: 16))
        return ServiceSighting(
            name: "x", interface: "eth0", address: SocketAddress(host: host, port: port),
            host: "y.local", text: record.text)
    }

    private static func found(_ view: LANView) -> [FoundPeer] {
        var recogniser = LANRecogniser()
        return view.seen(by: &recogniser).members
    }

    @Test func `members are found, each address once; strangers and this device are not`() {
        var view = Self.view()
        view.multicast.sightings = [
            Self.sighting(of: Self.pi, at: "192.168.1.9"),
            Self.sighting(of: Self.pi, at: "fe80::9%eth0"),
            Self.sighting(of: Self.laptop, at: "192.168.1.5"),
            Self.sighting(of: Self.pi, at: "192.168.1.10", key: [UInt8](repeating: 2, count: 32)),
            ServiceSighting(
                name: "z", interface: "eth0", address: SocketAddress(host: "192.168.1.11", port: 1),
                host: "z.local", text: []),
        ]
        #expect(
            Self.found(view) == [
                FoundPeer(address: "lan://192.168.1.9:4041", device: Self.pi),
                FoundPeer(address: "lan://[fe80::9%eth0]:4041", device: Self.pi),
            ])
    }

    @Test func `who is not seen any more is given up`() {
        var view = Self.view()
        view.multicast.sightings = [Self.sighting(of: Self.pi, at: "192.168.1.9")]
        #expect(Self.found(view).count == 1)
        view.multicast.sightings = []
        #expect(Self.found(view).isEmpty)
    }

    @Test func `a device that shares with nobody tells nothing and finds nobody, and says why`() {
        var view = Self.view()
        view.discovery = .some(nil)
        view.multicast.sightings = [Self.sighting(of: Self.pi, at: "192.168.1.9")]
        #expect(view.announcement == nil)
        #expect(Self.found(view).isEmpty)
        #expect(
            view.state
                == .waiting("this device shares with nobody: run `chute invite` or `chute join`"))
        // Whoever gets a ticket can still come by it.
        #expect(!view.announced.isEmpty)
    }

    @Test func `links are told the link-local address of IPv6 and what IPv4 has beside those`()
        throws
    {
        var view = Self.view()
        view.take(view.interfaceAddresses + [Self.address("eth0", 2, "169.254.3.4")])
        let announcement = try #require(view.announcement)
        #expect(
            announcement.addresses == [
                .init(interface: 2, host: "192.168.1.5"), .init(interface: 2, host: "fe80::5"),
                .init(interface: 3, host: "fe80::6"),
            ])
        #expect(announcement.interfaces == nil)
        #expect(announcement.port == 4042)
    }

    @Test func `an interface with nothing else is told by what it has`() throws {
        var view = Self.view()
        view.take([
            Self.address("eth0", 2, "169.254.3.4"), Self.address("eth0", 2, "2001:db8::5"),
        ])
        #expect(
            try #require(view.announcement).addresses == [
                .init(interface: 2, host: "169.254.3.4"), .init(interface: 2, host: "2001:db8::5"),
            ])
    }

    @Test func `only the interfaces that are named hear of this device`() throws {
        let view = Self.view(LANTransport(interfaces: ["awdl0", "wlan7"]))
        let announcement = try #require(view.announcement)
        #expect(announcement.interfaces == [3])
        #expect(announcement.addresses == [.init(interface: 3, host: "fe80::6")])
        #expect(view.announced.isEmpty)
    }

    @Test func `members are told the addresses that mean something elsewhere`() {
        #expect(
            Self.view().announced == ["lan://192.168.1.5:4042", "lan://[2001:db8::5]:4042"])
    }

    @Test func `where nobody listens nobody is told to come`() {
        var view = Self.view()
        view.listening = nil
        view.listeningTrouble = "4041 is taken"
        #expect(view.announced.isEmpty)
        #expect(view.announcement == nil)
        #expect(view.state == .waiting("4041 is taken"))
    }

    @Test func `a development identity dials and tells nobody beyond its links`() throws {
        var transport = LANTransport()
        try transport.stayLocal()
        var view = Self.view(transport)
        view.multicast.sightings = [
            Self.sighting(of: Self.pi, at: "192.168.1.9"),
            Self.sighting(of: Self.pi, at: "fe80::9%eth0"),
        ]
        #expect(
            Self.found(view) == [FoundPeer(address: "lan://[fe80::9%eth0]:4041", device: Self.pi)])
    }

    @Test func `without mDNS there is only what is dialled`() {
        let view = Self.view(LANTransport(isMDNSEnabled: false))
        #expect(!view.looksForOthers)
        #expect(view.announcement == nil)
        #expect(view.state == .running("[::]:4042 on eth0, awdl0, without mDNS"))
    }

    @Test func `the state says by whom mDNS is spoken`() {
        var view = Self.view()
        #expect(view.state == .running("[::]:4042 on eth0, awdl0, mDNS by the Avahi daemon"))
        view.multicast.speaker = .embedded
        #expect(view.state == .running("[::]:4042 on eth0, awdl0, mDNS built in"))
        view.multicast.speaker = .nobody(nil)
        #expect(view.state == nil, "not known yet")
    }

    @Test func `the state says what to do where nothing can be found`() throws {
        var view = Self.view()
        view.multicast.speaker = .nobody(AvahiError(code: -7, call: "avahi_server_new"))
        guard case .waiting(let why)? = view.state else {
            Issue.record("\(String(describing: view.state))")
            return
        }
        #expect(why.contains("avahi_server_new"))
        view.take([Self.address("lo", 1, "127.0.0.1")])
        #expect(
            view.state
                == .waiting(
                    "no network interface has an address: connect this device to a network"))
    }

    @Test
    func `an interface of a container leaves this device its names, another network does not`()
        throws
    {
        var view = Self.view()
        let (names, home) = (view.names, view.interfaceAddresses)
        view.take(home.reversed())
        #expect(view.names == names)
        for number in 0..<3 {
            view.take(
                home + [Self.address("veth\(number)", 9, "fe80::\(number + 7)%veth\(number)")])
            #expect(view.names == names)
            #expect(try #require(view.announcement).addresses.count == 4)
        }
        view.take(home.filter { $0.index != 2 })
        #expect(view.names == names, "nothing is told in a network that was left")
        view.take(home.filter { $0.index != 2 } + [Self.address("eth0", 2, "10.0.0.7")])
        #expect(view.names != names)
    }

    @Test func `services of others need not be watched, nor those with addresses of elsewhere`() {
        var view = Self.view()
        view.networks = ["192.168.1.0/24"].compactMap { NetworkPrefix($0) }
        let stranger = ServiceSighting(
            name: "z", interface: "eth0", address: SocketAddress(host: "192.168.1.11", port: 1),
            host: "z.local", text: [])
        // One takes the name of a member's service, on this link or another.
        let thief = ServiceSighting(
            name: "x", interface: "awdl0", address: SocketAddress(host: "192.168.1.12", port: 1),
            host: "z.local", text: [])
        let far = ["10.9.9.9", "127.0.0.1", "::1"].map { Self.sighting(of: Self.pi, at: $0) }
        view.multicast.sightings =
            [Self.sighting(of: Self.pi, at: "192.168.1.9"), stranger, thief] + far
        var recogniser = LANRecogniser()
        let seen = view.seen(by: &recogniser)
        #expect(seen.unwatched.strangers == Set([stranger, thief] + far))
        #expect(seen.members == [FoundPeer(address: "lan://192.168.1.9:4041", device: Self.pi)])
    }

    @Test
    func `of a record that is repeated with many addresses few are watched, of each kind some`() {
        var view = Self.view()
        view.networks = ["192.168.0.0/16", "2001:db8::/32"].compactMap { NetworkPrefix($0) }
        let copies = (0..<250).map { Self.sighting(of: Self.pi, at: "192.168.2.\($0)") }
        let true4 = Self.sighting(of: Self.pi, at: "192.168.1.9")
        let true6 = Self.sighting(of: Self.pi, at: "2001:db8::9")
        let ofLink = Self.sighting(of: Self.pi, at: "fe80::9%eth0")
        for sightings in [
            [true4, true6, ofLink] + copies, copies + [true4, true6, ofLink],
        ] {
            view.multicast.sightings = sightings
            var recogniser = LANRecogniser()
            let seen = view.seen(by: &recogniser)
            #expect(seen.members.count == 253, "each is tried at some time")
            let first = Set(seen.members.prefix(4).map(\.address))
            for address in [true4, true6, ofLink].map(\.address) {
                #expect(first.contains(LANAddress.text(address)))
            }
            #expect(seen.unwatched.strangers.count == 245)
            #expect(seen.unwatched.strangers.isDisjoint(with: [true4, true6, ofLink]))
        }
    }

    @Test func `a device that is connected is not watched, and found all the same`() {
        var view = Self.view()
        let sighting = Self.sighting(of: Self.pi, at: "192.168.1.9")
        view.multicast.sightings = [sighting]
        var recogniser = LANRecogniser()
        let first = view.seen(by: &recogniser)
        #expect(first.unwatched == UnwatchedSightings())
        view.connected = [Self.pi]
        let seen = view.seen(by: &recogniser)
        #expect(seen.unwatched == UnwatchedSightings(resting: [sighting]))
        #expect(seen.members == [FoundPeer(address: "lan://192.168.1.9:4041", device: Self.pi)])
    }

    @Test func `another space gets other names of this device`() throws {
        let (one, other) = (Self.view(), Self.view())
        let announcements = try [one, other].map { try #require($0.announcement) }
        #expect(announcements[0].name != announcements[1].name)
        #expect(announcements[0].host != announcements[1].host)
    }
}
