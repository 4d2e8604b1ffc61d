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
        #expect(book.device(at: "c:1") == one)
        book.find([FoundPeer(address: "c:1", device: two)], by: "lan")
        #expect(book.device(at: "c:1") == two)
        book.answered["c:1"] = one
        #expect(book.device(at: "c:1") == one)
        #expect(book.device(at: "x:1") == nil)
    }

    @Test func `a member that publishes very many addresses leaves room for the others`() {
        var book = DialBook()
        book.publish([(one, (0..<5000).map { "a:\($0)" }), (two, ["b:1"])])
        #expect(book.published["b:1"] == two)
        #expect(book.published.count == 1024)
        book.find((0..<5000).map { FoundPeer(address: "f:\($0)", device: nil) }, by: "lan")
        #expect(book.all.count == 2048)
    }
}
