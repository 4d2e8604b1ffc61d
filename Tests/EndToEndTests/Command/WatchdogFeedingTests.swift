import Synchronization
import TestSupport
import Testing

@testable import chute

@Suite(.timeLimit(.minutes(1)))
struct WatchdogFeedingTests {
    private final class Meals: Sendable {
        let count = Mutex(0)
        var number: Int { count.withLock { $0 } }
    }

    private func feeding(
        _ meals: Meals, every interval: Duration?, patience: Duration = .seconds(60)
    ) -> WatchdogFeeding {
        WatchdogFeeding(interval: interval, patience: patience) {
            meals.count.withLock { $0 += 1 }
        }
    }

    @Test func `a service was ended while its agent was exchanged for another one`() async throws {
        let meals = Meals()
        let result = try await feeding(meals, every: .milliseconds(10)).during {
            try await eventually("several meals") { meals.number >= 5 }
            return 7
        }
        #expect(result == 7)
    }

    @Test func `nothing is fed where nobody watches, nor when it takes too long`() async throws {
        let unwatched = Meals()
        #expect(try await feeding(unwatched, every: nil).during { true })
        #expect(unwatched.number == 0)
        let hungry = Meals()
        let patience = Duration.milliseconds(50)
        let start = ContinuousClock.now
        try await feeding(hungry, every: .milliseconds(10), patience: patience).during {
            try await eventually("a meal") { hungry.number > 0 }
            try await eventually("patience has ended") {
                ContinuousClock.now > start + patience * 4
            }
            let fed = hungry.number
            try await eventually("some more time") { ContinuousClock.now > start + patience * 8 }
            #expect(hungry.number == fed)
        }
    }

    @Test func `what fails while it is fed fails`() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await feeding(Meals(), every: .seconds(1)).during { throw Failure() }
        }
    }
}
