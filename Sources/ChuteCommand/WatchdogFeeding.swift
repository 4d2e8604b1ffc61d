import ChuteSystem

/// Feeds the service manager's watchdog while no agent runs that could prove to be alive: one is
/// exchanged for another.
struct WatchdogFeeding: Sendable {
    /// The time between two meals; `nil` where nobody watches.
    let interval: Duration?
    /// One that takes longer has stopped on the way, and is for the manager to end.
    var patience = Duration.seconds(300)
    let feed: @Sendable () -> Void

    /// Does `body`, and feeds meanwhile.
    func during<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let interval else { return try await body() }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                let end = ContinuousClock.now + patience
                while ContinuousClock.now < end {
                    feed()
                    try await Task.pause(for: interval * 2 / 3, tolerance: interval / 3)
                }
                return nil
            }
            defer { group.cancelAll() }
            while let next = try await group.next() {
                if let next { return next }
            }
            throw CancellationError()
        }
    }
}
