import ChuteSystem
import Testing

struct NetworkPrefixTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("10.1.2.3/8", "10.9.9.9", true), ("192.168.4.0/22", "192.168.7.255", true),
        ("192.168.4.0/22", "192.168.8.0", false), ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("0.0.0.0/0", "::1", false), ("fd00::/8", "fd12::9", true), ("fd00::/8", "fe00::", false),
        ("::1", "::1", true), ("2001:db8::/33", "2001:db8:7fff::", true),
        ("2001:db8::/33", "2001:db8:8000::", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
        ("::ffff:10.0.0.0/8", "10.1.1.1", true), ("fe80::/10", "fe80::1%eth0", true),
        ("10.0.0.0/8", "example.org", false), ("10.0.0.0/8", "", false),
    ])
    func `an address is in a range or not`(range: String, host: String, isIn: Bool) throws {
        let address = SocketAddress(host: host, port: 1)
        #expect(try #require(NetworkPrefix(range)).contains(address) == isIn)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "::/129",
        "example.org", "example.org/8", "10.0.0.0/8/8", " 10.0.0.0/8",
    ])
    func `what is no range is refused`(text: String) { #expect(NetworkPrefix(text) == nil) }
}
