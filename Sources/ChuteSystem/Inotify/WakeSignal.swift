import Synchronization

/// Wakes one waiter: "look again". Many raises before the wait are one.
package final class WakeSignal: Sendable {
    private struct State {
        var isRaised = false
        var lastNumber: UInt64 = 0
        var waiter: (number: UInt64, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    package init() {}

    package func raise() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiter else {
                state.isRaised = true
                return nil
            }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    /// Returns when it was raised since the last return, or when the task is cancelled. For one
    /// waiter at a time: a second one lets the first go.
    package func wait() async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isDone, former) = state.withLock { state in
                    let former = state.waiter?.continuation
                    state.waiter = nil
                    if state.isRaised || Task.isCancelled {
                        state.isRaised = false
                        return (true, former)
                    }
                    state.waiter = (number, continuation)
                    return (false, former)
                }
                former?.resume()
                if isDone { continuation.resume() }
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
}
