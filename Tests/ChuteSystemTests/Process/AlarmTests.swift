import ChuteSystem
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AlarmTests {
    @Test func `an alarm that is moved rings once, one that is taken back never`() async throws {
        let rung = Mutex<[String]>([])
        let moved = Alarm { rung.withLock { $0.append("moved") } }
        let gone = Alarm { rung.withLock { $0.append("taken back") } }
        do {
            let dropped = Alarm { rung.withLock { $0.append("dropped") } }
            dropped.set(after: .milliseconds(20))
        }
        gone.set(after: .milliseconds(20))
        gone.cancel()
        moved.set(after: .seconds(1000))
        moved.set(after: .milliseconds(20))
        let last = Alarm { rung.withLock { $0.append("last") } }
        last.set(after: .milliseconds(40))
        try await eventually("the last one") { rung.withLock { $0.contains("last") } }
        #expect(rung.withLock { $0 } == ["moved", "last"])
    }

    @Test func `a pause lasts as long as it should`() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        try await Task.pause(for: .milliseconds(30), tolerance: .milliseconds(10))
        #expect(clock.now - start >= .milliseconds(30))
        try await Task.pause(for: .seconds(-1))
    }

    @Test(arguments: [false, true])
    func `a cancelled pause ends at once`(isBefore: Bool) async {
        let hasBegun = Mutex(false)
        let task = Task {
            if isBefore { while !Task.isCancelled { await Task.yield() } }
            hasBegun.withLock { $0 = true }
            try await Task.pause(for: .seconds(1000))
        }
        if !isBefore { while !hasBegun.withLock({ $0 }) { await Task.yield() } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
