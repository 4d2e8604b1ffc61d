import ChuteSystem
import Testing

struct SocketAddressTests {
    @Test(arguments: [
        ("pi.local:4040", "pi.local"), ("192.168.1.5:1", "192.168.1.5"), ("[::]:65535", "::"),
        ("[fe80::1%eth0]:0", "fe80::1%eth0"), ("bücher:80", "bücher"),
    ])
    func `a host and a port are read and written`(text: String, host: String) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.host == host)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", ":", ":80", "a", "a:", "a:65536", "a:+1", "a: 1", "::1:80", "[::1]", "[a]:80", "[]:80",
        "a b:80", "a/b:80", "[::1:80",
    ])
    func `what is neither is refused`(text: String) { #expect(SocketAddress(text) == nil) }

    @Test(arguments: [
        ("10.1.2.3:1", true), ("172.31.0.1:1", true), ("172.32.0.1:1", false),
        ("[fd00::1]:1", true), ("[fe80::1]:1", true), ("[::1]:1", true),
        ("[2001:db8::1]:1", false), ("[fe8::1]:1", false), ("[fc::1]:1", false),
        ("[::ffff:10.0.0.1]:1", true), ("pi.example.org:1", false), ("8.8.8.8:1", false),
    ])
    func `a private address says so`(text: String, isPrivate: Bool) throws {
        #expect(try #require(SocketAddress(text)).isPrivate == isPrivate)
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.9:1", true), ("[::1]:1", true),
        ("[::ffff:127.0.0.1]:1", true), ("169.254.7.7:1", true), ("[fe80::1%eth0]:1", true),
        ("[febf::1]:1", true), ("[fec0::1]:1", false), ("[fe8::1]:1", false),
        ("10.0.0.1:1", false), ("0.0.0.0:1", false), ("[::]:1", false),
        ("[::ffff:8.8.8.8]:1", false),
        ("127.1:1", false), ("localhost:1", false),
    ])
    func `an address of this host or link says so`(text: String, isOfThisLink: Bool) throws {
        #expect(try #require(SocketAddress(text)).isOfThisLink == isOfThisLink)
    }

    @Test(arguments: [
        ("8.8.8.8:1", true), ("192.0.2.1:1", true), ("10.0.0.1:1", false), ("127.0.0.1:1", false),
        ("100.64.0.1:1", false), ("100.128.0.1:1", true), ("0.0.0.0:1", false),
        ("224.0.0.1:1", false), ("255.255.255.255:1", false), ("[2001:db8::1]:1", true),
        ("[fd00::1]:1", false), ("[fe80::1]:1", false), ("[ff02::1]:1", false), ("[::]:1", false),
        ("[64:ff9b::a00:1]:1", false), ("[::ffff:8.8.8.8]:1", true), ("example.org:1", false),
    ])
    func `a public address says so`(text: String, isPublic: Bool) throws {
        #expect(try #require(SocketAddress(text)).isPublic == isPublic)
    }
}
