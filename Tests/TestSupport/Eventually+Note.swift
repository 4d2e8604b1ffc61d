/// Waits until a condition holds; where it does not within `limit`, the error has in it what
/// `note` says then.
package func eventually(
    within limit: Duration = .seconds(30), _ what: String,
    note: () async throws -> String, holds: () async throws -> Bool
) async throws {
    do {
        try await eventually(within: limit, what, holds)
    } catch let failure as NeverHappened {
        throw NeverHappened(what: "\(failure.what) within \(limit): \(try await note())")
    }
}
