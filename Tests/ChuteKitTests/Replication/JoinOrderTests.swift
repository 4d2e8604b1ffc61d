import ChuteSystem
import Testing

@testable import ChuteKit

struct JoinOrderTests {
    @Test func `addresses of own networks come first, and those of other private ones last`() throws
    {
        let order = JoinOrder(networks: [try #require(NetworkPrefix("192.168.1.7/24"))])
        let addresses = [
            "127.0.0.1:4040", "lan://10.0.0.2:5000", "lan://192.168.1.2:5000", "10.0.0.2:4040",
            "192.0.2.1:4040",
            "192.168.1.2:4040", "home.example.org:4040", "wss://example.org/chute",
            "ws://10.0.0.2:8080/chute",
        ]
        #expect(
            order.sorted(addresses) == [
                "lan://192.168.1.2:5000", "192.168.1.2:4040", "192.0.2.1:4040",
                "home.example.org:4040", "wss://example.org/chute", "lan://10.0.0.2:5000",
                "10.0.0.2:4040", "ws://10.0.0.2:8080/chute", "127.0.0.1:4040",
            ])
    }
}
