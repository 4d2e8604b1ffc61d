import Synchronization

/// What the reading thread of an `Inotify` hands over: a bounded queue of events.
///
/// When it is full, what comes next is dropped and one `overflow` event stands for it.
final class InotifyQueue: Sendable {
    private struct State {
        var events: [InotifyEvent] = []
        var isOverflowing = false
        var isClosed = false
    }

    private let capacity: Int
    private let whenReady: (@Sendable () -> Void)?
    private let state = Mutex(State())
    private let ready = WakeSignal()

    init(capacity: Int, whenReady: (@Sendable () -> Void)?) {
        self.capacity = max(capacity, 1)
        self.whenReady = whenReady
    }

    func append(_ events: [InotifyEvent]) {
        let isFirst = state.withLock { state in
            let wasEmpty = state.events.isEmpty
            for event in events where !state.isClosed { append(event, to: &state) }
            return wasEmpty && !state.events.isEmpty
        }
        if isFirst { announce() }
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

    private func announce() {
        ready.raise()
        whenReady?()
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
            await ready.wait()
        }
        return nil
    }

    func close() {
        state.withLock { $0.isClosed = true }
        announce()
    }
}
