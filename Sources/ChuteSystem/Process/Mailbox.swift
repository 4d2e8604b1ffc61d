import Synchronization

/// Hands elements from any thread to one reader, all that wait at once.
///
/// Does not bound what waits: for elements whose number is bounded elsewhere.
package final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var reader: CheckedContinuation<[Element], Never>?
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds an element; never blocks.
    package func post(_ element: Element) { post(contentsOf: [element]) }

    /// Adds elements, which the reader gets together; never blocks.
    package func post(contentsOf elements: [Element]) {
        guard !elements.isEmpty else { return }
        let reader = state.withLock { state -> CheckedContinuation<[Element], Never>? in
            guard !state.isClosed else { return nil }
            if let reader = state.reader.take() { return reader }
            state.waiting += elements
            return nil
        }
        reader?.resume(returning: elements)
    }

    /// All elements that wait, at least one; none once the mailbox is closed or the task is
    /// cancelled. One reader at a time.
    package func next() async -> [Element] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: [Element]? = state.withLock { state in
                    if !state.waiting.isEmpty {
                        let all = state.waiting
                        state.waiting = []
                        return all
                    }
                    if state.isClosed || Task.isCancelled { return [] }
                    precondition(state.reader == nil, "a mailbox has one reader")
                    state.reader = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let reader = state.withLock { $0.reader.take() }
            reader?.resume(returning: [])
        }
    }

    /// What waits now, without waiting.
    package func drain() -> [Element] {
        state.withLock { state -> [Element] in
            let all = state.waiting
            state.waiting = []
            return all
        }
    }

    /// Ends the mailbox: what waits can still be read.
    package func close() {
        let reader = state.withLock { state -> CheckedContinuation<[Element], Never>? in
            state.isClosed = true
            return state.reader.take()
        }
        reader?.resume(returning: [])
    }
}
