import Testing

@testable import ChuteSystem

struct AlarmTableTests {
    @Test func `who can wait wakes with who cannot`() {
        var table = AlarmTable()
        table.set(1, earliest: 10, latest: 30)
        table.set(2, earliest: 15, latest: 20)
        table.set(3, earliest: 21, latest: 21)
        #expect(table.nextWake == 20)
        #expect(table.takeDue(20) == [2, 1])
        #expect(table.nextWake == 21)
        #expect(table.takeDue(20).isEmpty)
        #expect(table.takeDue(22) == [3])
        #expect(table.nextWake == nil)
    }

    @Test func `what is set anew or taken back does not wake as before`() {
        var table = AlarmTable()
        table.set(1, earliest: 10, latest: 10)
        table.set(2, earliest: 12, latest: 11)  // never before its moment
        table.set(1, earliest: 50, latest: 60)
        #expect(table.nextWake == 12)
        table.remove(2)
        #expect(table.nextWake == 60)
        #expect(table.takeDue(49).isEmpty)
    }

    @Test func `pauses of ten and more that may last ten longer wake no more often than every ten`()
    {
        let pauses: [(length: Int64, tolerance: Int64)] = [(10, 10), (30, 10), (60, 30), (11, 10)]
        var table = AlarmTable()
        for (id, pause) in pauses.enumerated() {
            // Begun at moments of their own.
            let start = Int64(id) * 3
            table.set(
                UInt64(id), earliest: start + pause.length,
                latest: start + pause.length + pause.tolerance)
        }
        var last: Int64?
        for _ in 0..<1000 {
            guard let now = table.nextWake else { break }
            if let last { #expect(now - last >= 10) }
            last = now
            for id in table.takeDue(now) {
                let pause = pauses[Int(id)]
                table.set(
                    id, earliest: now + pause.length,
                    latest: now + pause.length + pause.tolerance)
            }
        }
        #expect(last != nil)
    }
}
