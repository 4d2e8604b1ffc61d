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
        book.answered["c:1"] = one
        #expect(book.devices(at: "c:1") == [one])
        #expect(book.devices(at: "x:1").isEmpty)
    }

    @Test func `a member that publishes very many addresses leaves room for the others`() {
        var book = DialBook()
        book.publish([(one, (0..<5000).map { "a:\($0)" }), (two, ["b:1"])])
        #expect(book.published["b:1"] == [two])
        #expect(book.published.count == 1024)
        book.find((0..<5000).map { FoundPeer(address: "f:\($0)", device: nil) }, by: "lan")
        #expect(book.all.count == 2048)
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
}
