import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

struct SchemaTests {
    /// `chute status` looked while the agent made its database, found the first of several
    /// versions, and said that the store was another program's.
    @Test func `a migration that stops before its last step leaves no version in between`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let database = try Connection(path: folder.appending("db"), mode: .readWriteCreate)
            // In the way of a later step.
            try database.execute("CREATE TABLE pins (other INTEGER)")
            #expect(throws: (any Error).self) { try Schema.migrate(database) }
            let found = try database.prepare("PRAGMA user_version").first { $0.int(0) }
            #expect(found == 0)
            try database.execute("DROP TABLE pins")
            try Schema.migrate(database)
            let now = try database.prepare("PRAGMA user_version").first { $0.int(0) }
            #expect(now == Schema.version)
        }
    }
}
