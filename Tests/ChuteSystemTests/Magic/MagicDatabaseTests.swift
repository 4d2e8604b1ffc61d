import ChuteSystem
import Testing

@Suite struct MagicDatabaseTests {
    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1], "image/jpeg"),
            (Array("%PDF-1.7\n%\n1 0 obj\n".utf8), "application/pdf"),
            (Array("just a line of text\n".utf8), "text/plain"),
            ([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3], "application/gzip"),
        ] as [([UInt8], String)])
    func `bytes get the type of their rules`(bytes: [UInt8], expected: String) throws {
        let database = try MagicDatabase()
        #expect(try database.type(ofBytes: bytes) == expected)
    }

    @Test func `one database answers again and again`() throws {
        let database = try MagicDatabase()
        for _ in 0..<3 {
            #expect(try database.type(ofBytes: Array("GIF89a\u{1}\0\u{1}\0".utf8)) == "image/gif")
            #expect(try database.type(ofBytes: Array("{\"a\": [1, 2]}".utf8)) == "application/json")
        }
    }

    @Test func `no bytes are not an error`() throws {
        #expect(try MagicDatabase().type(ofBytes: []).hasSuffix("x-empty"))
    }

    @Test func `a missing database is an error with its reason`() {
        do {
            _ = try MagicDatabase(path: "/nonexistent/chute-magic.mgc")
            Issue.record("a database that does not exist was loaded")
        } catch {
            #expect(error.call == "magic_load")
            #expect(!error.reason.isEmpty)
        }
    }
}
