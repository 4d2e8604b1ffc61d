import Glibc
import Synchronization

/// One attempt to connect, seen by who waits for it and by the loop.
///
/// Its result is an open descriptor, which whoever takes the result closes; what comes after the
/// first is closed here.
final class WebSocketAttempt: Sendable {
    typealias Outcome = Result<Int32, WebSocketError>

    private struct State {
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    /// Whether it is decided already.
    var isResolved: Bool { state.withLock { $0.outcome != nil } }

    /// Decides it, if it is not decided.
    func resolve(_ outcome: Outcome) {
        let (isFirst, waiter) = state.withLock {
            state -> (Bool, CheckedContinuation<Outcome, Never>?) in
            guard state.outcome == nil else { return (false, nil) }
            state.outcome = outcome
            defer { state.waiter = nil }
            return (true, state.waiter)
        }
        if !isFirst, case .success(let descriptor) = outcome { close(descriptor) }
        waiter?.resume(returning: outcome)
    }

    /// Waits for the outcome. Call it once.
    func result() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiter = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}
