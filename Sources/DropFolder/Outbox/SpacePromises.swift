import Synchronization

/// What is promised to wants under way, in bytes, by outbox. Shared by the outboxes of an agent,
/// which may lie on one file system.
///
/// It makes `min_free` a bound on what this agent promises: an offer is made from a count, and
/// taken in the transaction that writes the wants, less all that was promised since. Those
/// transactions come one after the other. The bounds kept here save most looks from adding up
/// all wants.
///
/// What it does not know of: what other programs write, the rest of each file's last block,
/// folders and the file system's own records; and a staged file that was given up, which counts
/// as free a moment before it is removed. So much less may be free.
final class SpacePromises: Sendable {
    /// What had been promised at some time.
    struct Moment: Hashable, Sendable {
        fileprivate let made: [Int64: UInt64]
    }

    private struct State {
        /// At most so many; `nil` for an outbox that has not counted yet.
        var bounds: [Int64: UInt64?]
        /// All that was ever promised.
        var made: [Int64: UInt64] = [:]
    }

    private let state: Mutex<State>

    init(outboxes: some Sequence<Int64>) {
        let bounds = Dictionary(outboxes.map { ($0, UInt64?.none) }) { known, _ in known }
        state = Mutex(State(bounds: bounds))
    }

    /// To be taken before anything is counted.
    var moment: Moment { state.withLock { Moment(made: $0.made) } }

    /// An upper bound for all; `nil` before all have counted.
    var total: UInt64? {
        state.withLock { state in
            var sum: UInt64 = 0
            for case let bound in state.bounds.values {
                guard let bound else { return nil }
                sum = sum.addingReportingOverflow(bound).partialValue
            }
            return sum
        }
    }

    /// The wants of `root` were counted after `moment`; what was promised meanwhile may be missing.
    func set(_ root: Int64, to count: UInt64, since moment: Moment) {
        state.withLock { state in
            let meanwhile = (state.made[root] ?? 0) &- (moment.made[root] ?? 0)
            state.bounds[root] = .some(count.addingReportingOverflow(meanwhile).partialValue)
        }
    }

    /// What is left of an offer. Call it in the transaction that `promise` belongs to.
    func left(of offer: SpaceOffer) -> SpaceBudget {
        let meanwhile = state.withLock { state in
            state.made.reduce(0 as UInt64) { sum, made in
                sum &+ (made.value &- (offer.moment.made[made.key] ?? 0))
            }
        }
        var budget = offer.budget
        budget.lose(meanwhile)
        return budget
    }

    /// What was taken of an offer is promised to `root`; what is left to offer. If the transaction
    /// fails, too much counts as promised until the next count.
    func promise(_ budget: SpaceBudget, of offer: SpaceOffer, to root: Int64) -> SpaceOffer {
        state.withLock { state in
            let count = budget.used - offer.budget.used
            state.made[root, default: 0] &+= count
            if let known = state.bounds[root], let known {
                state.bounds[root] = .some(known.addingReportingOverflow(count).partialValue)
            }
            return SpaceOffer(budget: budget, moment: Moment(made: state.made))
        }
    }
}

/// Space that was free at some time, for whoever takes it first.
struct SpaceOffer: Hashable, Sendable {
    var budget: SpaceBudget
    let moment: SpacePromises.Moment
}
