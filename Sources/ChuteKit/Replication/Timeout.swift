import ChuteSystem

/// Runs `body`, cancelled and given up after `limit`.
func withTimeout<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.pause(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else {
            throw ChuteError(.unreachable, "no answer within \(limit)", isTransient: true)
        }
        return result
    }
}
