import ChuteKit
import Synchronization

/// The requests that are being answered beside the others, since they take long.
final class SlowRequests: Sendable {
    private let numbers = Mutex<Set<Int64>>([])
    private static let limit = 4

    /// Whether a request takes some seconds: it asks other devices.
    static func isSlow(_ body: Fields?) -> Bool { body.flatMap(AgentRequest.init) == .doctor }

    /// The next of the open requests that nobody answers yet; one that takes long waits while many
    /// of those are answered.
    func next(of open: [(number: Int64, body: Fields?)]) -> (number: Int64, body: Fields?)? {
        let begun = numbers.withLock { $0 }
        return open.first { number, body in
            !begun.contains(number) && !(begun.count >= Self.limit && Self.isSlow(body))
        }
    }

    func insert(_ number: Int64) { numbers.withLock { _ = $0.insert(number) } }

    func remove(_ number: Int64) { numbers.withLock { _ = $0.remove(number) } }
}
