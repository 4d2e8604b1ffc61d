import CWebSockets
import Synchronization

/// What is to be done on a loop's thread, and the only way to wake it.
final class WebSocketJobs: Sendable {
    typealias Job = @Sendable (WebSocketLoop) -> Void

    private struct State {
        var jobs: [Job] = []
        /// `nil` before the loop runs and once it has ended.
        nonisolated(unsafe) var context: OpaquePointer?
        var isEnding = false
    }

    private let state = Mutex(State())

    /// Has `job` done, after those before; `false` where the loop does no more. Calls
    /// `lws_cancel_service`, the one call of the library that is for other threads.
    func add(_ job: @escaping Job) -> Bool {
        state.withLock { state in
            guard let context = state.context, !state.isEnding else { return false }
            state.jobs.append(job)
            lws_cancel_service(context)
            return true
        }
    }

    /// The loop runs.
    func begin(_ context: OpaquePointer?) {
        nonisolated(unsafe) let context = context
        state.withLock { $0.context = context }
    }

    /// What is to be done; `nil` when the loop shall end and nothing is left.
    func take() -> [Job]? {
        state.withLock { state in
            defer { state.jobs = [] }
            return state.isEnding && state.jobs.isEmpty ? nil : state.jobs
        }
    }

    /// Asks the loop to end.
    func end() {
        state.withLock { state in
            state.isEnding = true
            if let context = state.context { lws_cancel_service(context) }
        }
    }

    /// The loop ends: nobody may wake it any more. What is left to be done, since somebody may
    /// wait for it.
    func hasEnded() -> [Job] {
        state.withLock { state in
            state.isEnding = true
            state.context = nil
            defer { state.jobs = [] }
            return state.jobs
        }
    }
}
