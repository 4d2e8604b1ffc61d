/// A condition that did not come true in time.
package struct NeverHappened: Error, CustomStringConvertible {
    package let what: String

    package init(what: String) { self.what = what }

    package var description: String { "never happened: \(what)" }
}

/// Waits until `condition` is true, looking again every few milliseconds.
///
/// Throws `NeverHappened` after `limit`, which is long: it only ends a test that failed.
package func eventually(
    within limit: Duration = .seconds(30), _ what: String = "the expected state",
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NeverHappened(what: what) }
        try await Task.sleep(for: .milliseconds(5))
    }
}
