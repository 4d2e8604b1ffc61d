import ChuteSystem
import Synchronization

/// One of those who wait for an attachment: what it was told and has not taken yet.
///
/// Whoever takes slowly is told less: of many steps of progress the last, never less than the
/// terminal event.
///
/// ## Concurrency
/// Told and cancelled from anywhere; one reader. Never calls out under its lock.
final class FetchSubscription: Sendable {
    private struct State {
        var decision: FetchState
        var waiting: [FetchEvent] = []
        var reader: CheckedContinuation<FetchEvent?, Never>?
        var isTaken = false
    }

    let token: AttachmentToken
    let priority: FetchPriority
    private let service: FetchService
    private let state: Mutex<State>
    /// Of what comes and goes no more is kept.
    private static let limit = 16

    init(_ token: AttachmentToken, priority: FetchPriority, service: FetchService) {
        self.token = token
        self.priority = priority
        self.service = service
        state = Mutex(State(decision: FetchState(total: token.len)))
    }

    /// Whether the terminal event was said.
    var isOver: Bool { state.withLock { $0.decision.isOver } }

    func handle(_ input: FetchState.Input) {
        let (reader, event) = state.withLock {
            state -> (CheckedContinuation<FetchEvent?, Never>?, FetchEvent?) in
            for event in state.decision.handle(input) { Self.add(event, to: &state.waiting) }
            guard state.reader != nil, !state.waiting.isEmpty else { return (nil, nil) }
            return (state.reader.take(), Self.takeFirst(&state))
        }
        reader?.resume(returning: event)
    }

    private static func add(_ event: FetchEvent, to waiting: inout [FetchEvent]) {
        switch (waiting.last, event) {
        case (.progress, .progress), (.stalled, .stalled): waiting.removeLast()
        default: break
        }
        if waiting.count >= limit { waiting.removeFirst() }
        waiting.append(event)
    }

    private static func takeFirst(_ state: inout State) -> FetchEvent? {
        guard !state.waiting.isEmpty else { return nil }
        let event = state.waiting.removeFirst()
        if event.isTerminal { state.isTaken = true }
        return event
    }

    /// Says `cancelled`, unless it is over, and leaves the transfer to the others.
    func cancel() {
        let wasOver = isOver
        handle(.cancelled)
        guard !wasOver else { return }
        // Whoever cancels does not wait, and may be in a callback.
        Task(executorPreference: WorkerPool.shared) { [service] in await service.leave(self) }
    }

    /// Begins; what comes of it is told by `next`.
    func start() async { await service.join(self) }

    /// The next event; `nil` after the terminal one. Cancels where its task is.
    func next() async -> FetchEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isNow, event) = state.withLock { state -> (Bool, FetchEvent?) in
                    if let event = Self.takeFirst(&state) { return (true, event) }
                    if state.isTaken || state.reader != nil { return (true, nil) }
                    state.reader = continuation
                    return (false, nil)
                }
                if isNow { continuation.resume(returning: event) }
            }
        } onCancel: {
            cancel()
        }
    }
}
