import TestSupport
import Testing

@testable import ChuteKit

struct RelayLedgerTests {
    private static func attachment(_ number: Int, _ byteCount: UInt64 = 100) -> AttachmentID {
        guard
            let id = AttachmentID(
                digest: Digest(hashing: Array("\(number)".utf8)), byteCount: byteCount)
        else { preconditionFailure("a small count") }
        return id
    }

    /// One that was fetched and given to whoever asked.
    private func serve(_ number: Int, in ledger: inout RelayLedger, at now: UInt64) {
        let id = Self.attachment(number)
        ledger.came(id, now: now)
        ledger.served(100, of: id, now: now)
    }

    @Test func `the least recently used goes first, and no more than has to`() {
        var ledger = RelayLedger(byteLimit: 350)
        for number in 0..<3 {
            #expect(ledger.admit(Self.attachment(number), now: UInt64(number)) == [])
            serve(number, in: &ledger, at: UInt64(number))
        }
        ledger.touch(Self.attachment(0), now: 9)
        #expect(ledger.admit(Self.attachment(3), now: 10) == [Self.attachment(1)])
        #expect(ledger.admit(Self.attachment(4, 351), now: 10) == nil)
        #expect(ledger.admit(Self.attachment(4, 0), now: 10) == nil)
        #expect(ledger.byteCount == 300)
    }

    @Test
    func `whoever asks for ten thousand gets the limit's worth, and no more before it took it`() {
        var ledger = RelayLedger(byteLimit: 1000)
        var admitted: [Int] = []
        for number in 0..<10_000 {
            guard let evicted = ledger.admit(Self.attachment(number), now: 5) else { continue }
            #expect(evicted.isEmpty)
            admitted.append(number)
            ledger.came(Self.attachment(number), now: 5)
            #expect(ledger.byteCount <= 1000)
        }
        #expect(admitted == Array(0..<10))
        // What was given makes room, as does what nobody came for.
        ledger.served(99, of: Self.attachment(4), now: 6)
        #expect(ledger.admit(Self.attachment(20_000), now: 7) == nil)
        ledger.served(1, of: Self.attachment(4), now: 7)
        #expect(ledger.admit(Self.attachment(20_000), now: 7) == [Self.attachment(4)])
        let late = 5 + RelayLedger.patience
        #expect(ledger.admit(Self.attachment(20_001), now: late)?.count == 1)
    }

    @Test func `what is on its way counts, and is not given up for another`() {
        var ledger = RelayLedger(byteLimit: 250)
        #expect(ledger.admit(Self.attachment(1), now: 0) == [])
        #expect(ledger.admit(Self.attachment(2), now: 0) == [])
        #expect(ledger.admit(Self.attachment(3), now: 10_000) == nil)
        #expect(ledger.admit(Self.attachment(2), now: 0) == nil)
        ledger.remove(Self.attachment(1))
        #expect(ledger.admit(Self.attachment(3), now: 0) == [])
        #expect(ledger.byteCount == 200)
    }

    @Test func `unused for a day, or stuck, or over a lesser limit, it is due`() {
        var ledger = RelayLedger(byteLimit: 1000)
        _ = ledger.admit(Self.attachment(1), now: 0)
        serve(1, in: &ledger, at: 0)
        _ = ledger.admit(Self.attachment(2), now: 0)
        #expect(ledger.due(now: 10).isEmpty)
        #expect(ledger.due(now: RelayLedger.patience) == [Self.attachment(2)])
        ledger.progressed(Self.attachment(2), now: RelayLedger.patience)
        #expect(ledger.due(now: RelayLedger.patience + 1).isEmpty)
        #expect(ledger.due(now: RelayLedger.lifetime).contains(Self.attachment(1)))
        ledger.limit(byteCount: 100)
        #expect(ledger.due(now: 10) == [Self.attachment(1)])
        ledger.limit(byteCount: 0)
        #expect(Set(ledger.due(now: 10)) == [Self.attachment(1), Self.attachment(2)])
        #expect(ledger.admit(Self.attachment(9), now: 10) == nil)
    }

    @Test func `the last use is told once, of what is here`() {
        var ledger = RelayLedger()
        ledger.add(Self.attachment(1), used: 3)
        _ = ledger.admit(Self.attachment(2), now: 4)
        #expect(ledger.takeNews().isEmpty)
        ledger.touch(Self.attachment(1), now: 8)
        ledger.touch(Self.attachment(1), now: 6)
        #expect(ledger.takeNews() == [Self.attachment(1): 8])
        #expect(ledger.takeNews().isEmpty)
    }
}
