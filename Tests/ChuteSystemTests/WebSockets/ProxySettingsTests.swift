import ChuteSystem
import Testing

struct ProxySettingsTests {
    private func proxy(_ url: String, _ variables: [String: BytePath]) throws -> String? {
        let proxy = try ProxySettings(ProcessEnvironment(variables))
            .proxy(for: try #require(WebSocketURL(url)))
        return proxy.map { "\($0.address)" }
    }

    @Test func `each scheme has its own variable`() throws {
        let both: [String: BytePath] = ["http_proxy": "http://a:1", "https_proxy": "b:2"]
        #expect(try proxy("ws://x/", both) == "a:1")
        #expect(try proxy("wss://x/", both) == "b:2")
        #expect(try proxy("wss://x/", ["HTTPS_PROXY": "http://b:2/"]) == "b:2")
        #expect(try proxy("ws://x/", ["ALL_PROXY": "c:3"]) == "c:3")
        #expect(try proxy("wss://x/", ["all_proxy": "c:3", "https_proxy": "b:2"]) == "b:2")
        #expect(try proxy("ws://x/", ["https_proxy": "b:2"]) == nil)
        #expect(try proxy("ws://x/", ["http_proxy": ""]) == nil)
    }

    @Test func `upper-case HTTP_PROXY is not read, since a request could set it`() throws {
        #expect(try proxy("ws://x/", ["HTTP_PROXY": "a:1"]) == nil)
    }

    @Test(arguments: [
        ("example.org", "example.org", true), ("example.org", "a.example.org", true),
        (".example.org", "example.org", true), (".example.org", "a.b.example.org", true),
        ("example.org", "badexample.org", false), ("example.org:80", "example.org", true),
        ("other, example.org", "EXAMPLE.org", true), ("other example.org", "example.org", true),
        ("*", "example.org", true), ("10.0.0.0/8", "10.1.2.3", true),
        ("10.0.0.0/8", "11.1.2.3", false), ("192.168.1.5", "192.168.1.5", true),
        (".", "example.org", false), ("", "example.org", false),
    ])
    func `no_proxy names who needs none`(list: String, host: String, isExcepted: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let found = try proxy("ws://\(host)/", ["http_proxy": "a:1", name: BytePath(list)])
            #expect((found == nil) == isExcepted)
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"])
    func `this host has no proxy`(host: String) throws {
        #expect(try proxy("ws://\(host):1/", ["http_proxy": "a:1"]) == nil)
    }

    @Test func `credentials are taken out of the URL`() throws {
        let environment = ProcessEnvironment(["http_proxy": "http://me:p%40ss@a:1"])
        let proxy = try ProxySettings(environment).proxy(for: try #require(WebSocketURL("ws://x/")))
        #expect(proxy?.credentials == "me:p@ss")
        #expect(proxy?.description == "http://a:1")
    }

    @Test(arguments: [
        "https://a:1", "socks5://a:1", "http://a:1/path", "http://", "a b:1", "http://%zz@a:1",
        "http://a%0D%0Ab@a:1", "http://a:99999",
    ])
    func `a proxy that is not understood is an error`(text: BytePath) {
        #expect(throws: WebSocketError.self) { try proxy("ws://x/", ["http_proxy": text]) }
    }
}
