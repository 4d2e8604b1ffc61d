import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

@Suite struct PredicateTests {
    private static let id = DocumentID(text: Array("x".utf8))

    private static func matches(_ predicate: Predicate, _ fields: Fields) -> Bool {
        predicate.matches(fields, id: id)
    }

    @Test func `conditions are written as one says them`() {
        let ada: Fields = ["age": 36, "name": "Ada", "home": ["town": "London"]]
        let grown = field("age") >= 18 && field("name").hasPrefix("A") && !field("gone").exists
        #expect(Self.matches(grown, ada))
        #expect(!Self.matches(grown, ["age": 17.5, "name": "Ada"]))
        #expect(!Self.matches(grown, ["age": 36, "name": "Ada", "gone": .null]))
        #expect(Self.matches(field("home")["town"] == "London", ada))
        #expect(Self.matches(field(["home", "town"]).isIn(["Paris", "London"]), ada))
        #expect(Self.matches(field("age") < 10 || .id(Self.id), ada))
        #expect(!Self.matches(!.all, ada))
    }

    @Test func `a missing field and a value of another kind match no comparison`() {
        let predicates = [
            field("a") == 1, field("a") != 1, field("a") < 1, field("a") <= 1, field("a") > 1,
            field("a") >= 1, field("a").isIn([1]), field("a").hasPrefix("1"),
        ]
        for predicate in predicates { #expect(!Self.matches(predicate, [:])) }
        for predicate in predicates where predicate != (field("a") != 1) {
            #expect(!Self.matches(predicate, ["a": "x"]))
        }
        #expect(!Self.matches(field("a") < .double(.nan), ["a": 1]))
        #expect(!Self.matches(field("a") < 1, ["a": .double(.nan)]))
    }

    @Test(arguments: 0..<8)
    func `a condition is the same after it has travelled`(seed: UInt64) throws {
        var source = RandomDocuments(seed: seed)
        for _ in 0..<300 {
            let predicate = source.predicate()
            let bytes = try predicate.cbor().encoded()
            #expect(try Predicate(cbor: CBOR.decode(bytes)) == predicate)
        }
    }

    @Test func `texts that only look alike are two conditions`() {
        let composed = field("a") == "\u{E9}"
        let decomposed = field("a") == "e\u{301}"
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func `what no version sends is no condition`() {
        let path = FieldPath(["a"]).cbor
        let bad: [CBOR] = [
            .null, .array([]), .array([.int(99)]), .array([.int(-1)]), .array([.int(2)]),
            .array([.int(3), path, .int(9), .int(1)]),
            .array([.int(3), .array([]), .int(0), .int(1)]),
            .array([.int(3), path, .int(0), .negative(.max)]), .array([.int(4), path, .int(1)]),
            .array(
                [.int(5), path, .array([.map([])])].dropLast() + [
                    .map([.init(key: .int(1), value: .null)])
                ]),
            .array([.int(6), .array([.text("")])]), .array([.int(7), .int(0), .bytes([])]),
            .array([.int(8), .text("x")]),
            .array([.int(6), .array((0...FieldPath.limit).map { .text("\($0)") })]),
        ]
        for cbor in bad { #expect(throws: WireError.self) { try Predicate(cbor: cbor) } }
        var deep = CBOR.array([.int(0)])
        for _ in 0..<Predicate.depthLimit { deep = .array([.int(2), deep]) }
        #expect(throws: WireError.self) { try Predicate(cbor: deep) }
        let wide = CBOR.array(
            [.int(8)]
                + (0..<Predicate.countLimit).map { .bytes([1, UInt8($0 & 0xFF), UInt8($0 >> 8)]) })
        #expect(throws: WireError.self) { try Predicate(cbor: wide) }
    }

    @Test func `a condition that is built without end is refused, and breaks nothing`() async throws
    {
        var predicate = field("a") == 1
        for _ in 0..<1000 { predicate = (predicate && field("b") == 1) || field("c") == 1 }
        #expect(throws: ChuteError.self) { try predicate.check() }
        #expect(throws: ChuteError.self) { try predicate.cbor() }
        var flat = field("a") == 0
        for number in 1..<2000 { flat = flat || field("a") == .integer(Int64(number)) }
        #expect(flat.depth == 2)
        #expect(Self.matches(flat, ["a": 1999]))
        #expect(throws: ChuteError.self) { try flat.cbor() }
    }
}
