import ChuteSystem
import Testing

struct DefaultGatewayTests {
    private let header =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    @Test func `the route to everywhere of the least metric counts`() throws {
        let table =
            header + """
                eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
                wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
                eth0\t00000000\tFE00A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
                tun0\t00000000\t0100000A\t0002\t0\t0\t1\t00000000\t0\t0\t0

                """
        let gateway = try #require(DefaultGateway(routes: table))
        #expect(gateway == DefaultGateway(address: "192.168.0.254", interface: "eth0"))
        #expect(gateway.isPrivate)
    }

    @Test(arguments: [
        "", "eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
        "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n",
        "eth0\t00000000\tXXXXXXXX\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", "eth0\t00000000\n",
    ])
    func `a table without a router has none`(_ rows: String) {
        #expect(DefaultGateway(routes: header + rows) == nil)
    }

    @Test(arguments: [
        ("192.168.1.1", true), ("10.0.0.1", true), ("172.16.0.1", true), ("203.0.113.1", false),
        ("169.254.1.1", false), ("100.64.0.1", false),
    ])
    func `a gateway is private or not`(_ address: String, _ isPrivate: Bool) {
        #expect(DefaultGateway(address: address, interface: "eth0").isPrivate == isPrivate)
    }
}
