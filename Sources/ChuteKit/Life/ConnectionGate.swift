import ChuteSystem
import Synchronization

/// Asks the application whether a connection may live.
///
/// ## Concurrency
/// The handler runs in a task of its own: one that never answers holds up nobody.
final class ConnectionGate: Sendable {
    typealias Handler = @Sendable (ConnectionRequest) async -> ConnectionRequest.Answer

    /// One answer, whoever gives it first.
    private final class Question: Sendable {
        private struct State {
            var waiter: CheckedContinuation<ConnectionRequest.Answer?, Never>?
            /// What ends it.
            var task: Task<Void, Never>?
        }

        private let state: Mutex<State>

        init(_ waiter: CheckedContinuation<ConnectionRequest.Answer?, Never>) {
            state = Mutex(State(waiter: waiter))
        }

        /// The task that asks; cancelled at once where the question has ended.
        func isAsked(by task: Task<Void, Never>) {
            let isOver = state.withLock { state in
                if state.waiter != nil { state.task = task }
                return state.waiter == nil
            }
            if isOver { task.cancel() }
        }

        /// `nil`: nobody waits any longer, which the handler is told by a cancel.
        func end(_ answer: ConnectionRequest.Answer?) {
            let (waiter, task) = state.withLock { ($0.waiter.take(), $0.task.take()) }
            waiter?.resume(returning: answer)
            if answer == nil { task?.cancel() }
        }
    }

    private struct State {
        var handler: Handler?
        /// Handlers that have not returned, waited for or not.
        var runningCount = 0
    }

    private let state = Mutex(State())
    let timeout: Duration
    /// So many handlers run at once; a member that comes again and again makes no more.
    private static let runningLimit = 64

    init(timeout: Duration = .seconds(10)) { self.timeout = timeout }

    var handler: Handler? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// The handler's answer; `refuse` where it gives none in time, or too many run already. Without
    /// a handler everybody is allowed. Throws `CancellationError`, at once.
    func answer(_ request: ConnectionRequest) async throws -> ConnectionRequest.Answer {
        let (handler, mayRun) = state.withLock { state -> (Handler?, Bool) in
            guard state.handler != nil else { return (nil, true) }
            let mayRun = state.runningCount < Self.runningLimit
            if mayRun { state.runningCount += 1 }
            return (state.handler, mayRun)
        }
        guard let handler else { return .allow }
        guard mayRun else { return .refuse }
        let asked = Mutex<Question?>(nil)
        let alarm = Alarm { asked.withLock { $0 }?.end(nil) }
        defer { alarm.cancel() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let question = Question(continuation)
                asked.withLock { $0 = question }
                alarm.set(after: timeout)
                // May outlive the connection, which waits no longer than `timeout`.
                let task = Task(executorPreference: WorkerPool.shared) {
                    let answer = await handler(request)
                    self.state.withLock { $0.runningCount -= 1 }
                    question.end(answer)
                }
                question.isAsked(by: task)
                // Cancelled before there was anything to end.
                if Task.isCancelled { question.end(nil) }
            }
        } onCancel: {
            asked.withLock { $0 }?.end(nil)
        }
        try Task.checkCancellation()
        return answer ?? .refuse
    }
}
