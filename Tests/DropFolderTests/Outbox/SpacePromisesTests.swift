import Testing

@testable import DropFolder

struct SpacePromisesTests {
    private func offer(_ count: UInt64, _ promises: SpacePromises) -> SpaceOffer {
        SpaceOffer(
            budget: SpaceBudget(available: count, reason: .noSpace), moment: promises.moment)
    }

    /// Takes of an offer as a transaction does; whether there was enough.
    private func take(
        _ count: UInt64, of offer: inout SpaceOffer, for root: Int64, _ promises: SpacePromises
    ) -> Bool {
        var budget = promises.left(of: offer)
        let isEnough = budget.take(count)
        offer = promises.promise(budget, of: offer, to: root)
        return isEnough
    }

    @Test func `the bound is known once every outbox has counted`() {
        let promises = SpacePromises(outboxes: [1, 2])
        var early = offer(100, promises)
        #expect(take(5, of: &early, for: 1, promises))
        promises.set(1, to: 10, since: promises.moment)
        #expect(promises.total == nil)
        promises.set(2, to: 0, since: promises.moment)
        #expect(promises.total == 10)
        #expect(take(7, of: &early, for: 2, promises))
        #expect(promises.total == 17)
        promises.set(1, to: 1, since: promises.moment)
        #expect(promises.total == 8)
    }

    @Test func `space that two outboxes were offered is promised once`() {
        let promises = SpacePromises(outboxes: [1, 2])
        var (one, two) = (offer(10, promises), offer(10, promises))
        #expect(take(8, of: &one, for: 1, promises))
        #expect(!take(8, of: &two, for: 2, promises))
        #expect(take(2, of: &two, for: 2, promises))
        #expect(!take(1, of: &one, for: 1, promises))
    }

    @Test func `an offer that is taken of again and again loses only what others took`() {
        let promises = SpacePromises(outboxes: [1, 2])
        var (one, two) = (offer(10, promises), offer(10, promises))
        #expect(take(3, of: &one, for: 1, promises))
        #expect(take(3, of: &one, for: 1, promises))
        #expect(take(2, of: &two, for: 2, promises))
        #expect(take(2, of: &one, for: 1, promises))
        #expect(!take(1, of: &one, for: 1, promises))
    }

    @Test func `a count forgets nothing that was promised while it was made`() {
        let promises = SpacePromises(outboxes: [1])
        let moment = promises.moment
        var space = offer(10, promises)
        #expect(take(5, of: &space, for: 1, promises))
        // The count is of a moment before that.
        promises.set(1, to: 3, since: moment)
        #expect(promises.total == 8)
    }
}
