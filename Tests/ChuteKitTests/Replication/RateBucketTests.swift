import Testing

@testable import ChuteKit

struct RateBucketTests {
    /// How many bytes pass within `duration` when portions are asked for one after the other.
    private func passed(
        within duration: Duration, rate: UInt64, portion: Int, takers: Int = 1
    ) -> Int {
        var bucket = RateBucket(rate: rate)
        var moments = [Duration](repeating: .zero, count: takers)
        var total = 0
        while let next = moments.indices.min(by: { moments[$0] < moments[$1] }),
            moments[next] < duration
        {
            let now = moments[next]
            moments[next] = now + bucket.take(portion, now: now)
            if moments[next] <= duration { total += portion }
            if moments[next] == now { moments[next] += .nanoseconds(1) }
        }
        return total
    }

    @Test(arguments: [(1000, 1024), (100_000, 25_000), (10_000_000, 65_536)] as [(UInt64, Int)])
    func `within ten seconds a rate holds to a tenth`(rate: UInt64, portion: Int) {
        for takers in [1, 5] {
            let total = passed(
                within: .seconds(10), rate: rate, portion: portion, takers: takers)
            let wanted = Int(rate) * 10
            #expect(abs(total - wanted) <= wanted / 10 + takers * portion)
        }
    }

    @Test func `what was not used for a long time is not made up for`() {
        var bucket = RateBucket(rate: 1000)
        #expect(bucket.take(1000, now: .zero) == .zero)
        #expect(bucket.take(1000, now: .seconds(100)) == .zero)
        #expect(bucket.take(1000, now: .seconds(100)) == .milliseconds(900))
    }

    @Test func `a limit that is lifted holds nobody up`() {
        var bucket = RateBucket(rate: 1000)
        _ = bucket.take(100_000, now: .zero)
        bucket.rate = nil
        #expect(bucket.take(100_000, now: .zero) == .zero)
    }
}
