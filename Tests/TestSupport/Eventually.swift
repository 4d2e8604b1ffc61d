import Glibc

/// What a test waited for did not come about in time.
package struct NotInTime: Error, CustomStringConvertible {
    package let what: String
    package let limit: Duration
    package let last: String

    package var description: String { "\(what): not within \(limit)\(last)" }
}

/// Asks again and again until the answer is something; throws `NotInTime` after `limit`.
///
/// For what another process does. `note` says in the error how things stood at the end.
package func eventually<Result>(
    _ what: String, within limit: Duration = .seconds(30),
    note: () async throws -> String = { "" }, _ answer: () async throws -> Result?
) async throws -> Result {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while true {
        if let result = try await answer() { return result }
        if clock.now > end {
            let last = try await note()
            throw NotInTime(what: what, limit: limit, last: last.isEmpty ? "" : ": " + last)
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// Asks again and again until a condition holds; throws `NotInTime` after `limit`.
package func eventually(
    _ what: String, within limit: Duration = .seconds(30),
    note: () async throws -> String = { "" }, holds: () async throws -> Bool
) async throws {
    _ = try await eventually(what, within: limit, note: note) { try await holds() ? true : nil }
}
