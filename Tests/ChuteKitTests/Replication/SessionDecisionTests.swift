import TestSupport
import Testing

@testable import ChuteKit

struct SessionDecisionTests {
    private let one: DeviceID
    private let two: DeviceID

    init() {
        let ids = [DeviceID(Digest(hashing: [1])), DeviceID(Digest(hashing: [2]))].sorted()
        (one, two) = (ids[0], ids[1])
    }

    private func entry(
        _ number: UInt64, by dialer: DeviceID, instance: UInt64 = 1, rank: Int = 1
    ) -> SessionRegistry.Entry {
        .init(number: number, dialer: dialer, instance: instance, rank: rank)
    }

    @Test(arguments: [false, true])
    func `both ends keep the connection of the better transport`(_ isReversed: Bool) {
        for (own, peer) in [(one, two), (two, one)] {
            var registry = SessionRegistry()
            // The lesser one opened the worse.
            var entries = [entry(1, by: one, rank: 2), entry(2, by: two, rank: 0)]
            if isReversed { entries.reverse() }
            for entry in entries {
                switch registry.judge(entry, for: peer, own: own) {
                case .keep, .replace: registry.add(entry, for: peer)
                case .refuse(let number): #expect(number == 2)
                case .askFirst: Issue.record("they are of one start")
                }
            }
            #expect(registry.entries[peer]?.rank == 0)
        }
    }

    @Test(arguments: [false, true])
    func `both ends keep the connection that the lesser one opened`(_ isReversed: Bool) {
        for (own, peer) in [(one, two), (two, one)] {
            var registry = SessionRegistry()
            var entries = [entry(1, by: one), entry(2, by: two)]
            if isReversed { entries.reverse() }
            for entry in entries {
                switch registry.judge(entry, for: peer, own: own) {
                case .keep, .replace: registry.add(entry, for: peer)
                case .refuse: break
                case .askFirst: Issue.record("they are of one start")
                }
            }
            #expect(registry.entries[peer]?.dialer == one)
        }
    }

    @Test func `another start of the same device asks whether the old one lives`() {
        var registry = SessionRegistry()
        registry.add(entry(1, by: two), for: two)
        #expect(
            registry.judge(entry(2, by: two, instance: 2), for: two, own: one)
                == .askFirst(number: 1))
        registry.remove(number: 9, of: two)
        #expect(registry.entries[two] != nil)
        registry.remove(number: 1, of: two)
        #expect(registry.judge(entry(2, by: two, instance: 2), for: two, own: one) == .keep)
    }

    @Test func `pauses grow to the greatest and start over after success`() {
        var schedule = RetrySchedule(.seconds(1)...(.seconds(60)))
        #expect(schedule.next(random: 0) == .milliseconds(20))
        #expect(schedule.next(random: 0) == .milliseconds(50))
        #expect(schedule.next(random: 0) == .milliseconds(100))
        #expect(schedule.next(random: 0) == .milliseconds(200))
        #expect(schedule.next(random: 0) == .milliseconds(400))
        #expect(schedule.next(random: 0) == .milliseconds(500))
        #expect(schedule.next(random: 0.5) == .milliseconds(1500))
        for _ in 0..<1000 {
            let pause = schedule.next(random: 0.999)
            #expect(pause <= .seconds(60) && pause > .zero)
        }
        #expect(schedule.next(random: 0) == .seconds(30))
        schedule.reset()
        #expect(schedule.next(random: 0) == .milliseconds(20))
    }

    @Test func `a holding knows its pieces, and none beyond its bits`() throws {
        let id = try #require(AttachmentID(digest: Digest(hashing: [1]), byteCount: 1 << 40))
        let some = Holding(attachment: id, pieces: [0b1010_0000])
        #expect(
            (0..<10).map { some.has($0) } == [true, false, true] + Array(repeating: false, count: 7)
        )
        #expect(!some.has(.max))
        #expect(Holding(attachment: id).has(.max))
    }
}
