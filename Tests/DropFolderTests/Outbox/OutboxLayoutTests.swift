import ChuteSystem
import DropFolder
import Testing

@Suite struct OutboxLayoutTests {
    private func values(
        peer: String = "laptop", path: [String] = ["trip", "a.jpg"], type: String = "image/jpeg"
    ) -> OutboxLayout.Values {
        OutboxLayout.Values(
            peer: Array(peer.utf8), path: path.map { Array($0.utf8) }, type: Array(type.utf8),
            collection: Array("pics".utf8), date: CalendarDate(1_767_225_599_000_000_000),
            fallback: Array("abcdefgh".utf8))
    }

    private func expand(_ template: String, _ values: OutboxLayout.Values) throws -> [String] {
        try OutboxLayout(template).expand(values).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `the standard layout is peer and path`() throws {
        #expect(try OutboxLayout("{peer}/{path}") == OutboxLayout.standard)
        let template = "{collection}/ä {year}-{month}/{name}"
        #expect(try OutboxLayout(template).description == template)
        #expect(try expand("{peer}/{path}", values()) == ["laptop", "trip", "a.jpg"])
    }

    @Test func `dates, types and text stand in one component each`() throws {
        let found = try expand(
            "{collection}/{type}/{year}-{month}-{day}/by {peer} {name}", values())
        #expect(found == ["pics", "image%2Fjpeg", "2025-12-31", "by laptop a.jpg"])
    }

    @Test func `text before the path goes to its first component`() throws {
        #expect(try expand("x-{path}", values()) == ["x-trip", "a.jpg"])
    }

    @Test(arguments: ["", ".", "..", "a\0b"])
    func `a peer name that would be refused gives way to the device id`(peer: String) throws {
        #expect(try expand("{peer}/{name}", values(peer: peer)) == ["abcdefgh", "a.jpg"])
    }

    @Test func `a peer name stays one component`() throws {
        #expect(try expand("{peer}/{name}", values(peer: "../x")) == ["..%2Fx", "a.jpg"])
    }

    @Test func `a bad path stays bad and is refused afterwards`() throws {
        let components = OutboxLayout.standard.expand(values(path: ["..", "evil"]))
        #expect(throws: OutboxNaming.Refusal.dotDot) { try OutboxNaming().name(components) }
    }

    @Test(
        arguments: [
            ("{peer}/{paht}", .unknownPlaceholder("paht")), ("{peer/{path}", .unbalancedBrace),
            ("{path", .unbalancedBrace), ("path}", .unbalancedBrace),
            ("/{path}", .notARelativePath),
            ("", .notARelativePath), ("../{path}", .notARelativePath), ("{peer}/x", .namesNoFile),
            ("{path}/{name}", .pathIsNotLast), ("a//{path}", .notARelativePath),
            ("{peer}/\u{1B}{path}", .controlCharacter),
        ] as [(String, OutboxLayout.Problem)])
    func `a template that cannot work is refused`(template: String, problem: OutboxLayout.Problem) {
        #expect(throws: problem) { try OutboxLayout(template) }
    }

    @Test(
        arguments: [
            (0, "1970-01-01"), (-1, "1969-12-31"), (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"), (4_102_444_799, "2099-12-31"),
            (-11_676_096_000, "1600-01-01"),
        ] as [(Int64, String)])
    func `a moment has its day`(seconds: Int64, text: String) {
        // A nanosecond stamp does not reach 1600: the offset does.
        #expect(CalendarDate(0, offset: seconds).text == text)
    }
}
