import Synchronization

/// What the reading thread of an `Inotify` hands over: a bounded queue of events.
///
/// When it is full, what comes next is dropped and one `overflow` event stands for it.
final class InotifyQueue: Sendable {
    private struct State {
        var events: [InotifyEvent] = []
        var isOverflowing = false
        var isClosed = false
        var waiter: (number: UInt64, continuation: CheckedContinuation<Void, Never>)?
        var lastWaiter: UInt64 = 0
    }

    private let capacity: Int
    private let whenReady: (@Sendable () -> Void)?
    private let state = Mutex(State())

    init(capacity: Int, whenReady: (@Sendable () -> Void)?) {
        self.capacity = max(capacity, 1)
        self.whenReady = whenReady
    }

    func append(_ events: [InotifyEvent]) {
        guard !events.isEmpty else { return }
        let (waiter, isFirst) = state.withLock { state in
            let wasEmpty = state.events.isEmpty
            for event in events where !state.isClosed { append(event, to: &state) }
            defer { state.waiter = nil }
            return (state.waiter?.continuation, wasEmpty && !state.events.isEmpty)
        }
        waiter?.resume()
        if isFirst { whenReady?() }
    }

    private func append(_ event: InotifyEvent, to state: inout State) {
        if state.isOverflowing { return }
        if event.mask.contains(.overflow) || state.events.count >= capacity {
            state.isOverflowing = true
            state.events.append(.overflow)
        } else if event.mask != .modified || state.events.last != event {
            // A writer's many writes are one hint, as in the kernel's own queue.
            state.events.append(event)
        }
    }

    /// All that is queued, at once; `nil` when closed and empty.
    func take() -> [InotifyEvent]? {
        state.withLock { state in
            if state.isClosed, state.events.isEmpty { return nil }
            state.isOverflowing = false
            defer { state.events = [] }
            return state.events
        }
    }

    func next() async -> [InotifyEvent]? {
        while !Task.isCancelled {
            guard let events = take() else { return nil }
            if !events.isEmpty { return events }
            await wait()
        }
        return nil
    }

    private func wait() async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (mayResume, former) = state.withLock { state in
                    let isReady = !state.events.isEmpty || state.isClosed || Task.isCancelled
                    if isReady { return (true, CheckedContinuation<Void, Never>?.none) }
                    defer { state.waiter = (number, continuation) }
                    return (false, state.waiter?.continuation)
                }
                former?.resume()
                if mayResume { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard state.waiter?.number == number else { return nil }
                defer { state.waiter = nil }
                return state.waiter?.continuation
            }
            waiter?.resume()
        }
    }

    func close() {
        let waiter = state.withLock { state in
            state.isClosed = true
            defer { state.waiter = nil }
            return state.waiter?.continuation
        }
        waiter?.resume()
        whenReady?()
    }
}
