import ChuteSystem
@preconcurrency import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

/// A connected device dials an address and says who answers.
@Suite(.timeLimit(.minutes(2)))
struct DialBackTests {
    /// An address of this host at which nobody listens.
    private func closedAddress() throws -> String {
        let listening = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        return listening.address.description
    }

    @Test func `a peer says whether this very device answers at an address`() async throws {
        try await withTwoEngines { one, two in
            let own = try await one.address()
            let other = try await two.address()
            #expect(await one.chute.isReachable(at: own) == [two.chute.device: true])
            // There is somebody, but somebody else.
            #expect(await one.chute.isReachable(at: other) == [two.chute.device: false])
            #expect(
                await one.chute.isReachable(at: try closedAddress()) == [two.chute.device: false])
        }
    }

    @Test func `the one that is dialled learns nothing but that somebody came`() async throws {
        try await withTwoEngines { one, two in
            let before = try await one.chute.peers().count
            #expect(try await one.chute.isReachable(at: one.address()) == [two.chute.device: true])
            #expect(try await one.chute.peers().count == before)
            try await eventually("it counts as a stranger who hung up") {
                one.said.contains { $0.contains("hung up before it let this device in") }
            }
        }
    }

    @Test func `nothing is dialled that the asking device could not reach by itself`()
        async throws
    {
        try await withTwoEngines { _, two in
            for address in [
                "10.255.255.1:4040", "169.254.1.1:4040", "[::1]:4040", "127.0.0.2:4040",
                "127.0.0.1:0", "ws://127.0.0.1:4040/chute", "no address",
                String(repeating: "a", count: 400) + ":1",
            ] {
                #expect(await two.chute.isReachable(at: address).isEmpty, "\(address)")
            }
        }
    }

    @Test func `nobody is there to ask`() async throws {
        try await withTemporaryDirectory { folder in
            let alone = try await TestEngine(folder.appending("one"))
            #expect(try await alone.chute.isReachable(at: alone.address()).isEmpty)
            await alone.stop()
        }
    }

    @Test func `who asks too often gets no answer for a while`() async throws {
        try await withTwoEngines { one, two in
            let own = try await one.address()
            for _ in 0..<DialBackLimit.perMinute {
                #expect(await one.chute.isReachable(at: own) == [two.chute.device: true])
            }
            #expect(await one.chute.isReachable(at: own).isEmpty)
        }
    }

    @Test func `an answer that says only that nothing was tried means what was asked before`() {
        var asked = AskedDialBacks()
        let (one, two) = (DeviceID(publicKey: [1]), DeviceID(publicKey: [2]))
        func meaning(_ word: DialedBack.Word?, isPublic: Bool = false) -> Reachability {
            asked.meaning(of: word, from: one, isPublic: isPublic)
        }
        for second in 0..<DialBackLimit.perMinute {
            asked.note(one, now: .seconds(second))
            asked.note(two, now: .seconds(second))
        }
        #expect(meaning(.notTried) == .notDialled)
        // Everybody dials those, unless it was asked too often.
        #expect(meaning(.notTried, isPublic: true) == .askedTooOften)
        asked.note(one, now: .seconds(50))
        #expect(meaning(.notTried) == .askedTooOften)
        #expect(asked.meaning(of: .notTried, from: two, isPublic: false) == .notDialled)
        #expect(meaning(.reached) == .reached && meaning(.notReached) == .notReached)
        #expect(meaning(nil) == .silent)
        asked.note(one, now: .seconds(200))
        #expect(meaning(.notTried) == .notDialled)
    }

    @Test func `who asks too often is told that it does`() async throws {
        try await withTwoEngines { one, two in
            let own = try await one.address()
            for _ in 0..<DialBackLimit.perMinute {
                #expect(
                    await one.chute.reachability(at: own) == [two.chute.device: .reached])
            }
            #expect(await one.chute.reachability(at: own) == [two.chute.device: .askedTooOften])
        }
    }

    /// Look-ups that never end, until it is let go.
    private final class Silence: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        let count = Mutex(0)

        var names: NameLookup {
            NameLookup(limit: 2) { [self] _ in
                count.withLock { $0 += 1 }
                gate.wait()
                gate.signal()
                return []
            }
        }

        func end() { gate.signal() }
    }

    @Test func `a name server that never answers held a member's questions up for good`()
        async throws
    {
        let silence = Silence()
        defer { silence.end() }
        let dialing = DialingBack(names: silence.names, timeout: .milliseconds(50))
        let tls = try TLSContext(key: .generate())
        let source = SocketAddress("192.0.2.1:1")
        func word(_ number: UInt8) async -> DialedBack.Word {
            await dialing.word(
                on: "name.invalid:4040", for: DeviceID(publicKey: [number]), source: source, tls,
                .none)
        }
        for number in 0..<4 as Range<UInt8> { #expect(await word(number) == .notReached) }
        // Those that nobody waits for any more still count.
        #expect(silence.count.withLock { $0 } == 2)
        // One that is cancelled is let go at once.
        let other = Silence()
        defer { other.end() }
        let patient = DialingBack(names: other.names, timeout: .seconds(600))
        let waiting = Task {
            await patient.word(
                on: "name.invalid:4040", for: DeviceID(publicKey: [1]), source: source, tls, .none)
        }
        waiting.cancel()
        #expect(await waiting.value == .notReached)
    }

    @Test func `one address at a time and six a minute are dialled for a device`() {
        var limit = DialBackLimit()
        let (one, two) = (DeviceID(publicKey: [1]), DeviceID(publicKey: [2]))
        func begin(_ device: DeviceID, _ seconds: Int) -> Bool {
            limit.begin(device, now: .seconds(seconds))
        }
        #expect(begin(one, 0))
        #expect(!begin(one, 0))
        #expect(begin(two, 0))
        limit.end(one)
        for number in 1..<DialBackLimit.perMinute {
            #expect(begin(one, number))
            limit.end(one)
        }
        #expect(!begin(one, 59))
        #expect(begin(one, 60))
        limit.end(one)
        #expect(!begin(one, 60))
        // One that is dialled for all the while is not forgotten.
        #expect(!begin(two, 600))
    }

    @Test(arguments: [
        // Public ones, whoever asks.
        ("192.0.2.7:4040", "192.0.2.7:4040"), ("[2001:db8::1]:1", "[2001:db8::1]:1"),
        // Where the connection comes from, at any port.
        ("192.168.5.9:4040", "192.168.5.9:4040"), ("[fe80::9%eth7]:4040", nil),
        // In a network of both.
        ("192.168.5.10:4040", "192.168.5.10:4040"),
        // In one of this device alone, or of the other one alone, or of nobody.
        ("10.0.0.5:4040", nil), ("192.168.6.1:4040", nil), ("172.16.0.1:1", nil),
        ("127.0.0.1:22", nil), ("[::1]:22", nil), ("169.254.1.1:1", nil),
        ("100.64.0.1:1", nil), ("0.0.0.0:1", nil), ("224.0.0.251:5353", nil),
        ("[::]:1", nil), ("[ff02::1]:1", nil), ("[fd00::1]:1", nil),
        ("[::ffff:127.0.0.1]:1", nil), ("192.0.2.7:0", nil), ("pi.local:4040", nil),
    ])
    func `what may be dialled depends on where the member is`(
        _ address: String, _ expected: String?
    ) throws {
        let rule = DialBackRule(
            source: SocketAddress("192.168.5.9:51000"),
            networks: try ["127.0.0.1/8", "10.0.0.1/8", "192.168.5.1/24", "fe80::1/64"].map {
                try #require(NetworkPrefix($0))
            })
        let target = rule.target(for: try #require(SocketAddress(address)))
        #expect(target?.description == expected)
    }

    @Test func `a link-local source is dialled by the zone that it is known by here`() throws {
        let rule = DialBackRule(
            source: SocketAddress("[fe80::9%eth1]:51000"),
            networks: [try #require(NetworkPrefix("fe80::1/64"))])
        func target(_ text: String) throws -> String? {
            rule.target(for: try #require(SocketAddress(text)))?.description
        }
        #expect(try target("[fe80::9%wlan0]:4040") == "[fe80::9%eth1]:4040")
        #expect(try target("[fe80::8%eth1]:4040") == nil)
        #expect(
            DialBackRule(source: nil, networks: []).target(
                for: try #require(SocketAddress("127.0.0.1:1"))) == nil)
    }
}
