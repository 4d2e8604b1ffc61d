import Testing

@testable import ChuteKit

struct DialTurnsTests {
    private let one = DialTurns.Party.devices([DeviceID(Digest(hashing: [1]))])
    private let two = DialTurns.Party.devices([DeviceID(Digest(hashing: [2]))])

    /// All whose turn it is.
    private func open(_ turns: inout DialTurns) -> [UInt64] {
        var opened: [UInt64] = []
        while let next = turns.next() { opened.append(next) }
        return opened
    }

    @Test func `one device has no more turns than it may, and the others theirs`() {
        var turns = DialTurns(limits: .init(whole: 4, perParty: 2))
        let many = (0..<10).map { _ in turns.ask(for: one) }
        #expect(open(&turns) == Array(many[..<2]))
        let other = turns.ask(for: two)
        #expect(open(&turns) == [other])
    }

    @Test func `where all turns are taken the next is that of the device with the fewest`() {
        var turns = DialTurns(limits: .init(whole: 2, perParty: 2))
        let first = (0..<4).map { _ in turns.ask(for: one) }
        #expect(open(&turns) == Array(first[..<2]))
        let other = turns.ask(for: two)
        #expect(open(&turns).isEmpty)
        turns.end(first[0])
        #expect(open(&turns) == [other])
        turns.end(other)
        #expect(open(&turns) == [first[2]])
    }

    @Test func `who waits and gives up takes no turn, and ends none of others'`() {
        var turns = DialTurns(limits: .init(whole: 1, perParty: 1))
        let held = turns.ask(for: one)
        let (gone, patient) = (turns.ask(for: one), turns.ask(for: one))
        #expect(open(&turns) == [held])
        turns.end(gone)
        turns.end(gone)
        #expect(open(&turns).isEmpty)
        turns.end(held)
        turns.end(held)
        #expect(open(&turns) == [patient])
    }
}
