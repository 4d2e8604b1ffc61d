import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

struct ModelCodecTests {
    @Test func `values read back, twins in NFC and NFD as two fields`() throws {
        let digest = Digest(hashing: [1])
        let id = try #require(AttachmentID(digest: digest, byteCount: 1 << 53))
        let fields: Fields = [
            "caf\u{E9}": .integer(1), "cafe\u{301}": .integer(2), "null": .null,
            "bool": .bool(true), "least": .integer(.min), "most": .integer(.max),
            "double": .double(-0.0), "bytes": .bytes([0, 255]), "list": .array([.string("a")]),
            "map": .map(["x": .map([:])]),
            "token": .attachment(AttachmentToken(id: id, metadata: ["type": "image/png"])),
        ]
        let read = try Fields(cbor: try CBOR.decode(fields.cbor.encoded()))
        #expect(read == fields)
        #expect(read.all.count == 11)
        #expect(read["caf\u{E9}"] == .integer(1) && read["cafe\u{301}"] == .integer(2))
        #expect(read.attachmentTokens.map(\.id) == [id])
    }

    @Test func `a name is set, replaced and removed by its bytes`() {
        var fields: Fields = ["b": .integer(1), "a": .integer(2), "b": .integer(3)]
        #expect(fields.all.map(\.name) == ["a", "b"])
        fields["a"] = nil
        fields["nothing"] = nil
        #expect(fields == ["b": .integer(3)])
    }

    static let malformedTokens: [CBOR] = [
        .null, .array([]), .array([.unsigned(2), .bytes([]), .unsigned(1), .map([])]),
        .array([
            .unsigned(1), .bytes(Digest(hashing: [1]).bytes), .unsigned(1 << 53 + 1), .map([]),
        ]),
        .array([.unsigned(1), .bytes([1]), .unsigned(1), .map([])]),
        .array([.unsigned(1), .bytes(Digest(hashing: [1]).bytes), .unsigned(0), .map([])]),
        .array([
            .unsigned(1), .bytes(Digest(hashing: [1]).bytes), .unsigned(1),
            .map([.init(key: .text("a"), value: .unsigned(1))]),
        ]),
        .array([
            .unsigned(1), .bytes(Digest(hashing: [1]).bytes), .unsigned(1),
            .map([.init(key: .text("a"), value: .text(String(repeating: "x", count: 65_536)))]),
        ]),
    ]

    @Test(arguments: malformedTokens)
    func `what is not a token is refused`(_ cbor: CBOR) {
        #expect(throws: WireError.self) {
            _ = try Value(cbor: .map([.init(key: .text(""), value: cbor)]))
        }
    }

    @Test(arguments: [0, 1, 1_700_000_000_000, 253_402_300_799_999, UInt64(Int64.max)] as [UInt64])
    func `stamps only grow and stay valid, whatever the wall clock says`(_ now: UInt64) {
        var clock = HybridClock(last: Stamp(rawValue: 0))
        var last = clock.tick(now: now)
        #expect(last.isValid)
        for step in [0, now, now / 2] as [UInt64] {
            let next = clock.tick(now: step)
            #expect(next.isValid && (next > last || next == .latest))
            last = next
        }
    }

    @Test func `a stamp far ahead is outbid where it stands, and pulls nothing along`() {
        let now: UInt64 = 1_700_000_000_000
        var clock = HybridClock(last: Stamp(rawValue: 0))
        let far = Stamp(milliseconds: now + HybridClock.tolerance + 1)
        clock.observe(far, now: now)
        #expect(clock.tick(now: now) < far)
        #expect(clock.tick(now: now, over: far) > far)
        #expect(clock.tick(now: now) < far)
        let near = Stamp(milliseconds: now + HybridClock.tolerance)
        clock.observe(near, now: now)
        #expect(clock.tick(now: now) > near)
        clock.observe(Stamp(rawValue: .max), now: .max - HybridClock.tolerance)
        #expect(clock.tick(now: now).isValid)
    }

    @Test(arguments: 0..<40)
    func `base32 of any count of bytes reads back`(_ count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = random.bytes(count)
        let letters = Base32.encode(bytes)
        #expect(Base32.decode(letters) == bytes)
        #expect(Base32.decode(String(decoding: letters, as: UTF8.self).lowercased().utf8) == bytes)
    }

    @Test(arguments: ["A", "AAA", "AB", "1", "A=", "É"])
    func `what is not base32 is refused`(_ text: String) {
        #expect(Base32.decode(text.utf8) == nil)
    }

    @Test func `device ids read back in any grouping and case`() {
        let id = DeviceID(Digest(hashing: [4]))
        #expect(DeviceID(id.description) == id)
        #expect(DeviceID(id.description.lowercased().filter { $0 != "-" }) == id)
        #expect(DeviceID("") == nil)
        #expect(DeviceID(String(id.description.dropLast())) == nil)
    }

    @Test func `a ticket reads back, broken over lines and in capitals`() throws {
        let ticket = Ticket(
            space: .alone, inviter: DeviceID(Digest(hashing: [1])),
            secret: Array(repeating: 3, count: 16),
            addresses: ["192.168.1.5:4040", "[fe80::1]:4040"], expires: 99)
        let text = ticket.description
        #expect(Ticket(text) == ticket)
        #expect(Ticket(" \n" + text.uppercased() + "\n") == ticket)
        let middle = text.index(text.startIndex, offsetBy: 40)
        #expect(Ticket(text[..<middle] + "\n  " + text[middle...]) == ticket)
        for bad in [
            "", "chute1:", "chute2:" + text.dropFirst(7), String(text.dropLast(3)), text + "aa",
            "https://example.org", String(text.dropFirst()),
        ] { #expect(Ticket(bad) == nil) }
    }

    @Test func `no cut or changed letter of a ticket stops the program`() {
        let ticket = Ticket(
            space: .alone, inviter: DeviceID(Digest(hashing: [1])),
            secret: Array(repeating: 3, count: 16), addresses: ["a:1"], expires: 99)
        let text = Array(ticket.description.utf8)
        for place in text.indices {
            _ = Ticket(String(decoding: text[..<place], as: UTF8.self))
            var changed = text
            changed[place] = changed[place] == UInt8(ascii: "a") ? 0x62 : 0x61
            _ = Ticket(String(decoding: changed, as: UTF8.self))
        }
    }

    @Test(arguments: [Receipt.State.delivered, .refused(reason: "too-large"), .notWanted])
    func `a receipt reads back`(_ state: Receipt.State) {
        let receipt = Receipt(
            collection: "c", document: DocumentID(Digest(hashing: [1])),
            version: Digest(hashing: [2]), state: state, isRemoved: true)
        #expect(Receipt(cbor: receipt.cbor) == receipt)
        #expect(Receipt(cbor: .map([:])) == nil)
        #expect(Receipt(cbor: nil) == nil)
    }

    static let facts: [MemberFact] = [
        .founding(nonce: Array(repeating: 1, count: 32)),
        .admission(
            device: DeviceID(Digest(hashing: [1])), role: .owner, cancels: [Digest(hashing: [2])]),
        .removal(device: DeviceID(Digest(hashing: [1])), cutoff: 7),
        .sharedKey(mac: Array(repeating: 1, count: 32)),
    ]

    @Test(arguments: facts)
    func `a fact about members reads back`(_ fact: MemberFact) {
        #expect(MemberFact(cbor: fact.cbor) == fact)
        #expect(MemberFact(cbor: .map([0: .unsigned(9)])) == nil)
    }
}
