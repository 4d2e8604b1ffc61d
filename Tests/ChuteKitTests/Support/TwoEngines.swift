import TestSupport

@testable import ChuteKit

/// Two engines with one shared key, the second dials the first.
func withTwoEngines(
    _ body: (_ one: TestEngine, _ two: TestEngine) async throws -> Void
) async throws {
    try await withTemporaryDirectory { folder in
        let one = try await TestEngine(
            folder.appending("one"), identity: .sharedKey(.test()))
        let two = try await TestEngine(
            folder.appending("two"), identity: .sharedKey(.test()),
            connect: [try await one.address()])
        do {
            try await one.awaitConnection(to: two)
            try await body(one, two)
        } catch {
            for line in one.said { print("one:", line) }
            for line in two.said { print("two:", line) }
            await one.stop()
            await two.stop()
            throw error
        }
        await one.stop()
        await two.stop()
    }
}
