import ChuteSystem
import Testing

@testable import ChuteKit

struct LANTransportTests {
    private static let addresses = [
        InterfaceAddress(
            interface: "lo", index: 1, isLoopback: true,
            address: SocketAddress(host: "127.0.0.1", port: 0)),
        InterfaceAddress(
            interface: "eth0", index: 2, isLoopback: false,
            address: SocketAddress(host: "192.168.1.5", port: 0)),
        InterfaceAddress(
            interface: "awdl0", index: 3, isLoopback: false,
            address: SocketAddress(host: "fe80::1%awdl0", port: 0)),
    ]

    private static func takes(
        _ transport: LANTransport, at own: String, from peer: String = "192.168.1.9"
    ) -> Bool {
        transport.isWelcome(
            SocketAddress(host: peer, port: 1), at: SocketAddress(host: own, port: 4041),
            of: addresses)
    }

    @Test(arguments: ["lan://192.168.1.5:4041", "lan://[fe80::1%eth0]:4041", "lan://pi.local:1"])
    func `an address of its own is dialled`(_ address: String) {
        #expect(LANTransport().canDial(address))
    }

    @Test(arguments: ["192.168.1.5:4041", "lan://", "lan://192.168.1.5", "wss://a:1", "lan:/a:1"])
    func `an address of another transport, or none, is not`(_ address: String) {
        #expect(!LANTransport().canDial(address))
    }

    @Test func `an address is read as it is written`() throws {
        let address = SocketAddress(host: "fe80::1%eth0", port: 4041)
        #expect(LANAddress.socketAddress(LANAddress.text(address)) == address)
    }

    @Test func `a development identity stays on this link`() throws {
        var transport = LANTransport()
        try transport.stayLocal()
        #expect(transport.canDial("lan://[fe80::1%eth0]:4041"))
        #expect(!transport.canDial("lan://192.168.1.5:4041"))
        #expect(!Self.takes(transport, at: "192.168.1.5"))
        #expect(Self.takes(transport, at: "fe80::1%awdl0", from: "fe80::2%awdl0"))
    }

    @Test func `connections are taken on all interfaces but loopback`() {
        let transport = LANTransport()
        #expect(Self.takes(transport, at: "192.168.1.5"))
        #expect(Self.takes(transport, at: "fe80::1%awdl0"))
        #expect(!Self.takes(transport, at: "127.0.0.1"))
        #expect(!Self.takes(transport, at: "192.168.1.6"), "not an address of this host")
    }

    @Test func `connections are taken only on the interfaces that are named`() {
        let transport = LANTransport(interfaces: ["awdl0"])
        #expect(Self.takes(transport, at: "fe80::1%awdl0"))
        #expect(!Self.takes(transport, at: "192.168.1.5"))
    }

    @Test(arguments: [
        "", "_chute", "chute._tcp", "_chute._udp", "_._tcp", "_-a._tcp", "_1._tcp",
        "_a b._tcp", "_abcdefghijklmnop._tcp", "_chute._tcp.",
    ])
    func `a service type that is none is refused`(_ type: String) {
        #expect(throws: ChuteError.self) { try LANTransport(serviceType: type).check() }
    }

    @Test(arguments: ["_chute._tcp", "_http-alt._tcp", "_a1._tcp"])
    func `a service type is taken`(_ type: String) throws {
        try LANTransport(serviceType: type).check()
    }

    @Test(arguments: ["", "eth0/1", "a name", "sixteen-letters0", "..", "eth0:1"])
    func `a name that no interface can have is refused`(_ name: String) {
        #expect(throws: ChuteError.self) { try LANTransport(interfaces: [name]).check() }
    }
}
