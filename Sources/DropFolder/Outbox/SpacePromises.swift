import Synchronization

/// At most how many bytes are promised to wants under way, by outbox: saves most looks from
/// adding up all wants. Shared by the outboxes of an agent.
final class SpacePromises: Sendable {
    /// `nil` for an outbox that has not counted yet.
    private let bounds: Mutex<[Int64: UInt64?]>

    init(outboxes: some Sequence<Int64>) {
        bounds = Mutex(Dictionary(outboxes.map { ($0, nil) }) { known, _ in known })
    }

    /// An upper bound for all; `nil` before all have counted.
    var total: UInt64? {
        bounds.withLock { bounds in
            var sum: UInt64 = 0
            for case let bound in bounds.values {
                guard let bound else { return nil }
                sum = sum.addingReportingOverflow(bound).partialValue
            }
            return sum
        }
    }

    /// The wants of `root` were counted.
    func set(_ root: Int64, to count: UInt64) { bounds.withLock { $0[root] = .some(count) } }

    /// More was promised; what came to its end is taken off by the next count.
    func add(_ count: UInt64, to root: Int64) {
        bounds.withLock { bounds in
            guard let known = bounds[root], let known else { return }
            bounds[root] = .some(known.addingReportingOverflow(count).partialValue)
        }
    }
}
