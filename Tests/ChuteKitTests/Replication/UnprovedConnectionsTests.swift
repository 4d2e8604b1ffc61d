import Testing

@testable import ChuteKit

@Suite struct UnprovedConnectionsTests {
    /// Which of these connections are let in, one after the other.
    private func begin(
        _ addresses: [String], _ connections: inout UnprovedConnections
    ) -> [Bool] {
        addresses.map { connections.begin($0) }
    }

    @Test func `one source takes its share and no more, and gives it back`() {
        var connections = UnprovedConnections(limits: .init(whole: 5, perSource: 2))
        let first = begin(
            ["192.0.2.1:1000", "192.0.2.1:1001", "192.0.2.1:1002", "192.0.2.2:1000"],
            &connections)
        #expect(first == [true, true, false, true])
        connections.end("192.0.2.1:1001")
        #expect(begin(["192.0.2.1:1003", "192.0.2.1:1004"], &connections) == [true, false])
        #expect(connections.count == 3)
    }

    @Test func `all sources together take no more than the whole`() {
        var connections = UnprovedConnections(limits: .init(whole: 3, perSource: 2))
        let first = begin((1...4).map { "192.0.2.\($0):1000" }, &connections)
        #expect(first == [true, true, true, false])
        connections.end("192.0.2.2:1000")
        #expect(begin(["192.0.2.4:1000"], &connections) == [true])
    }

    @Test func `the addresses of one IPv6 network are one source, those of a link are not`() {
        var connections = UnprovedConnections(limits: .init(whole: 9, perSource: 1))
        let answers = begin(
            [
                "[2001:db8::1]:1000", "[2001:db8::ffff:2]:1000", "[2001:db8:0:1::1]:1000",
                "[fe80::1%eth0]:1000", "[fe80::2%eth0]:1000", "unknown", "unknown",
            ], &connections)
        #expect(answers == [true, false, true, true, true, true, false])
    }
}
