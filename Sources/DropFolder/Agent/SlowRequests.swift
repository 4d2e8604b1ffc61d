import ChuteKit
import Synchronization

/// The requests that are being answered beside the others, since they take long.
final class SlowRequests: Sendable {
    private let begun = Mutex<[Int64: AgentRequest]>([:])
    private static let limit = 4

    /// Whether a request takes some seconds: it asks other devices.
    static func isSlow(_ request: AgentRequest?) -> Bool {
        switch request {
        case .doctor, .join: true
        default: false
        }
    }

    /// The next of the open requests that nobody answers yet. One that takes long waits while many
    /// of those are answered, and what changes the space while it is being joined.
    func next(of open: [(number: Int64, body: Fields?)]) -> (number: Int64, body: Fields?)? {
        let begun = begun.withLock { $0 }
        let isJoining = begun.values.contains { if case .join = $0 { true } else { false } }
        return open.first { number, body in
            let request = body.flatMap(AgentRequest.init)
            if begun[number] != nil { return false }
            switch request {
            case .join, .leave: return !isJoining && begun.count < Self.limit
            default: return !Self.isSlow(request) || begun.count < Self.limit
            }
        }
    }

    func insert(_ number: Int64, _ request: AgentRequest) {
        begun.withLock { $0[number] = request }
    }

    func remove(_ number: Int64) { begun.withLock { $0[number] = nil } }
}
