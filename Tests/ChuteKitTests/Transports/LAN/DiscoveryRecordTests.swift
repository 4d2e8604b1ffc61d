import ChuteSystem
import Testing

@testable import ChuteKit

struct DiscoveryRecordTests {
    private static let laptop = DeviceID(Digest(hashing: Array("laptop".utf8)))
    private static let pi = DeviceID(Digest(hashing: Array("pi".utf8)))
    private static let camera = DeviceID(Digest(hashing: Array("camera".utf8)))

    private static func discovery(
        _ device: DeviceID, _ members: Set<DeviceID>, key: UInt8 = 1,
        isOpen: Bool = false
    ) -> Discovery {
        Discovery(
            key: [UInt8](repeating: key, count: 32), isOpen: isOpen, device: device,
            members: members)
    }

    private static func record(
        of discovery: Discovery, nonce: UInt8 = 7
    ) -> DiscoveryRecord {
        DiscoveryRecord(of: discovery, nonce: [UInt8](repeating: nonce, count: 16))
    }

    @Test func `members recognise each other by what is read on the link`() throws {
        let record = Self.record(of: Self.discovery(Self.laptop, [Self.pi, Self.camera]))
        let read = try #require(DiscoveryRecord(text: record.text))
        #expect(
            read.origin(in: Self.discovery(Self.pi, [Self.laptop, Self.camera]))
                == .member(Self.laptop))
    }

    @Test func `a device does not take itself for another`() {
        let own = Self.discovery(Self.laptop, [Self.pi])
        #expect(Self.record(of: own).origin(in: own) == .nobody)
    }

    @Test func `a device of another space is nobody, also where it is known from there`() {
        let record = Self.record(of: Self.discovery(Self.laptop, [Self.pi], key: 2))
        #expect(record.origin(in: Self.discovery(Self.pi, [Self.laptop], key: 1)) == .nobody)
    }

    @Test func `who is no member any more is nobody`() {
        let record = Self.record(of: Self.discovery(Self.camera, [Self.pi]))
        #expect(record.origin(in: Self.discovery(Self.pi, [Self.laptop])) == .nobody)
    }

    @Test func `where everybody who has the key is a member, one not heard of yet is recognised`() {
        let record = Self.record(of: Self.discovery(Self.camera, []))
        let open = Self.discovery(Self.pi, [Self.laptop], isOpen: true)
        #expect(record.origin(in: open) == .newcomer)
        #expect(
            record.origin(in: Self.discovery(Self.pi, [], key: 2, isOpen: true)) == .nobody)
        let own = Self.discovery(Self.camera, [], isOpen: true)
        #expect(record.origin(in: own) == .nobody)
    }

    @Test func `no start of a device looks like another one, and no member like another member`()
        throws
    {
        let own = Self.discovery(Self.laptop, [Self.pi])
        let others = Self.discovery(Self.pi, [Self.laptop])
        let texts = [
            Self.record(of: own, nonce: 1), Self.record(of: own, nonce: 2),
            Self.record(of: others, nonce: 3),
        ].map(\.text)
        for (place, one) in texts.enumerated() {
            for other in texts[(place + 1)...] {
                // Only that it is a Chute of this version is the same.
                #expect(Set(one).intersection(other) == [Array("v=1".utf8)])
            }
        }
    }

    @Test func `the names of two starts have nothing in common`() {
        let (one, other) = (LANNames(), LANNames())
        #expect(one.nonce != other.nonce)
        #expect(one.instance != other.instance)
        #expect(one.host != other.host)
    }

    @Test func `a further string means nothing`() throws {
        let record = Self.record(of: Self.discovery(Self.laptop, [Self.pi]))
        let text = [Array("x=1".utf8), []] + record.text
        #expect(DiscoveryRecord(text: text) == record)
    }

    @Test(arguments: [
        [], ["v=1"], ["v=2", "n", "s", "d"], ["v=1", "n=", "s", "d"], ["v=1", "n=!", "s", "d"],
        ["v=1", "n", "s=AAAA", "d"], ["v=1", "n", "s"],
        ["v=1", "n=" + String(repeating: "A", count: 200), "s", "d"],
    ])
    func `what is no such record is none`(_ strings: [String]) {
        let whole = Self.record(of: Self.discovery(Self.laptop, [Self.pi])).text
        // A key alone stands for the right string of it.
        let text = strings.map { string in
            whole.first { string.utf8.count == 1 && $0.first == string.utf8.first }
                ?? Array(string.utf8)
        }
        #expect(DiscoveryRecord(text: text) == nil)
    }

    @Test func `who was recognised is looked up once, and again when the members change`() {
        let text = Self.record(of: Self.discovery(Self.laptop, [Self.pi])).text
        var recogniser = LANRecogniser()
        let before = Self.discovery(Self.pi, [Self.camera])
        #expect(recogniser.origin(of: text, in: before) == .nobody)
        #expect(recogniser.origin(of: text, in: before) == .nobody)
        #expect(
            recogniser.origin(of: text, in: Self.discovery(Self.pi, [Self.laptop]))
                == .member(Self.laptop))
        recogniser.keepOnly([])
        #expect(recogniser.origin(of: text, in: before) == .nobody)
    }
}
