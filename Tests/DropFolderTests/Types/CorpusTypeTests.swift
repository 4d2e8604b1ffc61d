import DropFolder
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, "no corpus of real files: set CHUTE_CORPUS"))
struct CorpusTypeTests {
    @Test func `96 of 100 real files are named rightly`() throws {
        let detector = MIMEDetector()
        #expect(detector.usesLibmagic)
        let rows = try Corpus.rows().filter { !$0.expected.contains("[desc]") }
        var misses: [String] = []
        for row in rows {
            let file = try Corpus.open(row)
            let type = try detector.type(of: file, size: file.status().size, name: row.path)
            let expected = MIMEType(row.expected)
            if expected?.canonical != type {
                misses.append("\(row): \(type), expected \(row.expected)")
            }
        }
        let right = rows.count - misses.count
        print("types of real files: \(right) of \(rows.count) right")
        for miss in misses { print("  \(miss)") }
        #expect(rows.count > 400)
        #expect(right * 100 >= rows.count * 96)
    }

    @Test func `without libmagic every file still gets a type`() throws {
        let detector = MIMEDetector(database: "/nonexistent/magic.mgc")
        #expect(!detector.usesLibmagic)
        var right = 0
        let rows = try Corpus.rows()
        for row in rows {
            let file = try Corpus.open(row)
            let type = try detector.type(of: file, size: file.status().size, name: row.path)
            if MIMEType(row.expected)?.canonical == type { right += 1 }
        }
        print("types of real files without libmagic: \(right) of \(rows.count) right")
        #expect(right * 100 >= rows.count * 80)
    }
}
