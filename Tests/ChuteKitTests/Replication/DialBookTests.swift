import Testing

@testable import ChuteKit

struct DialBookTests {
    private let one = DeviceID(Digest(hashing: [1]))
    private let two = DeviceID(Digest(hashing: [2]))

    @Test func `an address is wanted for as long as anything speaks for it`() {
        var book = DialBook()
        book.chosen = ["a:1"]
        book.asked = ["b:1"]
        book.publish([(one, ["c:1"])])
        book.find([FoundPeer(address: "d:1", device: two)], by: "lan")
        #expect(book.all == ["a:1", "b:1", "c:1", "d:1"])
        #expect(book.all.allSatisfy(book.wants))
        #expect(book.isInsisted(on: "b:1") && !book.isInsisted(on: "c:1"))
        book.publish([])
        book.find([], by: "lan")
        #expect(!book.wants("c:1") && !book.wants("d:1"))
        book.forget()
        #expect(book.all == ["b:1"])
    }

    @Test func `who answered at an address counts more than who was said to be there`() {
        var book = DialBook()
        book.publish([(one, ["c:1"])])
        #expect(book.devices(at: "c:1") == [one])
        book.find([FoundPeer(address: "c:1", device: two)], by: "lan")
        #expect(book.devices(at: "c:1") == [two])
        book.note(one, at: "c:1")
        #expect(book.devices(at: "c:1") == [one])
        #expect(book.devices(at: "x:1").isEmpty)
    }

    @Test func `a member that publishes very many addresses leaves room for the others`() {
        var book = DialBook()
        book.publish([(one, (0..<5000).map { "a:\($0)" }), (two, ["b:1"])])
        #expect(book.published["b:1"] == [two])
        #expect(book.published.count == 1024)
        book.find((0..<5000).map { FoundPeer(address: "f:\($0)", device: nil) }, by: "lan")
        #expect(book.wants("b:1"))
    }

    @Test func `a member that publishes another's address takes nobody's place`() {
        var book = DialBook()
        book.publish([(one, ["c:1"]), (two, ["c:1"])])
        #expect(book.devices(at: "c:1") == [one, two])
    }

    @Test func `what a member publishes makes nobody ask other programs`() {
        var book = DialBook()
        book.publish([
            (
                one,
                [
                    "ws://10.0.0.1/reboot?now=1", "ws://127.0.0.1:80/chute", "ws://localhost/chute",
                    "ws://10.0.0.1:8080/chute", "10.0.0.1:4040",
                ]
            )
        ])
        #expect(book.all == ["ws://10.0.0.1:8080/chute", "10.0.0.1:4040"])
    }

    private static func found(_ device: DeviceID, _ places: Range<Int>) -> [FoundPeer] {
        places.map { FoundPeer(address: "lan:\($0)", device: device) }
    }

    @Test func `a stranger that repeats a record with many addresses has few of them dialled`() {
        var book = DialBook()
        book.find(
            Self.found(one, 0..<500) + [FoundPeer(address: "b:1", device: two)], by: "lan")
        book.publish([(one, (0..<60).map { "a:\($0)" })])
        #expect(book.wants("b:1"))
        #expect(book.all.filter { $0.hasPrefix("lan:") } == Set((0..<8).map { "lan:\($0)" }))
        #expect(book.all.filter { $0.hasPrefix("a:") }.count == 16)
    }

    @Test func `each of many addresses has its turn, and again`() {
        var book = DialBook()
        book.find(Self.found(one, 0..<100), by: "lan")
        var dialled: [String: Int] = [:]
        for _ in 0..<200 {
            guard
                let address = book.all.min(by: { dialled[$0, default: 0] < dialled[$1, default: 0] }
                )
            else { break }
            dialled[address, default: 0] += 1
            book.giveWay(at: address)
        }
        #expect(dialled.count == 100)
        #expect(dialled.values.allSatisfy { $0 == 2 })
    }

    @Test func `an address where the device answered keeps its place among many`() {
        var book = DialBook()
        book.find(Self.found(one, 0..<3), by: "lan")
        book.note(one, at: "lan:2")
        book.find(Self.found(one, 3..<500) + Self.found(one, 2..<3), by: "lan")
        #expect(book.wants("lan:2"))
        // Whom somebody else's record led to is not who was looked for.
        book.note(two, at: "lan:3")
        #expect(!book.wants("lan:3"))
    }

    @Test func `few addresses are tried for ever`() {
        var book = DialBook()
        book.find(Self.found(one, 0..<8), by: "lan")
        for _ in 0..<10 { book.giveWay(at: "lan:0") }
        #expect(book.all.count == 8)
        #expect(!book.isAwaited(at: "lan:0"))
    }

    @Test func `what is asked for gives way to nothing`() {
        var book = DialBook()
        book.asked = ["lan:99"]
        book.find(Self.found(one, 0..<100), by: "lan")
        book.giveWay(at: "lan:99")
        #expect(book.wants("lan:99") && !book.isAwaited(at: "lan:99"))
    }

    @Test func `only what was not found before is tried at once`() {
        var book = DialBook()
        var news: [Bool] = []
        for places in [0..<2, 0..<2, 0..<0, 0..<2] {
            news.append(book.find(Self.found(one, places), by: "lan"))
            news.append(book.takeFresh("lan:0"))
        }
        #expect(news == [true, true, false, false, false, false, true, true])
        let isFresh = book.takeFresh("lan:0")
        #expect(!isFresh, "once")
        book.find([], by: "lan")
        let isWanted = book.takeFresh("lan:1")
        #expect(!isWanted, "nobody wants it any more")
    }

    @Test func `an address is dialled on account of those who may be there`() {
        var book = DialBook()
        book.chosen = ["a:1"]
        book.find(
            [FoundPeer(address: "b:1", device: one), FoundPeer(address: "c:1", device: nil)],
            by: "lan")
        #expect(book.party(at: "a:1") == .address("a:1"))
        #expect(book.party(at: "b:1") == .devices([one]))
        #expect(book.party(at: "c:1") == .newcomers)
    }
}
