import ChuteSystem
import Testing

struct WebSocketURLTests {
    @Test(arguments: [
        ("ws://pi.local:8080/chute", false, "pi.local", 8080, "/chute"),
        ("wss://example.org/chute", true, "example.org", 443, "/chute"),
        ("ws://example.org", false, "example.org", 80, "/"),
        ("WSS://Example.org:443/a/b?c=%20d", true, "Example.org", 443, "/a/b?c=%20d"),
        ("wss://example.org?token=1", true, "example.org", 443, "/?token=1"),
        ("ws://[::1]/", false, "::1", 80, "/"),
        ("ws://[fe80::1%eth0]:81/", false, "fe80::1%eth0", 81, "/"),
    ])
    func `a URL is read`(
        text: String, isSecure: Bool, host: String, port: UInt16, path: String
    ) throws {
        let url = try #require(WebSocketURL(text))
        #expect(url.isSecure == isSecure)
        #expect(url.address == SocketAddress(host: host, port: port))
        #expect(url.path == path)
    }

    @Test(arguments: [
        "", "ws:", "ws://", "ws:///chute", "http://example.org/", "wsx://example.org/",
        "ws://user@example.org/", "ws://example.org:0/", "ws://example.org:65536/",
        "ws://example.org:/", "ws://exam ple.org/", "ws://example.org/a b", "ws://example.org/#a",
        "ws://example.org/\r\nHost: other", "ws://[::1", "ws://::1/", "ws://b\u{FC}cher.example/",
        "ws://example.org/" + String(repeating: "a", count: 2100),
    ])
    func `what is none is refused`(text: String) { #expect(WebSocketURL(text) == nil) }

    @Test(arguments: [
        ("ws://a:80/x", "ws://a/x"), ("wss://a:443/", "wss://a/"), ("wss://a:80/", "wss://a:80/"),
        ("ws://[::1]:80/", "ws://[::1]/"), ("ws://[::1]:81/", "ws://[::1]:81/"),
    ])
    func `a usual port is left out where a URL is written`(text: String, written: String) throws {
        #expect(try #require(WebSocketURL(text)).description == written)
    }

    @Test func `what begins like one is known as one`() {
        #expect(WebSocketURL.isOne("WS://"))
        #expect(WebSocketURL.isOne("wss://["))
        for other in ["ws:/a", "wsss://a", "example.org:80", "", "http://a"] {
            #expect(!WebSocketURL.isOne(other))
        }
    }
}
