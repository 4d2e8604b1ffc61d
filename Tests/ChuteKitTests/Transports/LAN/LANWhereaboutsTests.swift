import ChuteSystem
import Testing

@testable import ChuteKit

struct LANWhereaboutsTests {
    private static func hosts(_ hosts: [String]) -> Set<SocketAddress> {
        Set(hosts.map { SocketAddress(host: $0, port: 0) })
    }

    private static let home = ["192.168.1.5", "fe80::1%wlan0"]

    /// Whether any of these is elsewhere than what was before it.
    private static func isElsewhere(_ steps: [[String]]) -> Bool {
        var whereabouts = LANWhereabouts()
        return steps.map { whereabouts.isElsewhere(at: hosts($0)) }.contains(true)
    }

    @Test(arguments: [
        [home, home + ["fe80::2%veth1"], home, home + ["fe80::3%veth2"], home],
        // A network of containers begins and ends, and begins again.
        [home, home + ["172.18.0.1"], home, home + ["172.18.0.1"]],
        // DHCP takes a while.
        [["fe80::1%wlan0"], ["fe80::1%wlan0", "169.254.1.2"], home],
        // The cable is out for a moment.
        [home, [], home],
        [home, ["fe80::1%wlan0"], home],
        // A second way into the same world.
        [home, home + ["10.0.0.7", "fe80::4%eth0"], ["10.0.0.7", "fe80::4%eth0"]],
    ])
    func `who stays is not elsewhere`(_ steps: [[String]]) {
        #expect(!Self.isElsewhere(steps))
    }

    @Test(arguments: [
        [home, ["10.0.0.7", "fe80::1%wlan0"]],
        [home, [], ["10.0.0.7", "fe80::9%wlan0"]],
        [home, ["fe80::1%wlan0"], ["10.0.0.7", "fe80::1%wlan0"]],
        // Containers go along.
        [home + ["172.17.0.1"], ["172.17.0.1"], ["172.17.0.1", "10.0.0.7", "fe80::9%wlan0"]],
        // Another interface, at another place.
        [home, ["10.0.0.7", "fe80::4%eth0"]],
        // Where links are all there is.
        [["fe80::1%awdl0"], [], ["fe80::2%awdl0"]],
    ])
    func `who left a network and came to another is elsewhere`(_ steps: [[String]]) {
        #expect(Self.isElsewhere(steps))
    }
}
