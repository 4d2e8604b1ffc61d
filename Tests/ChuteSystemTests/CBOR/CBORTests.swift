import ChuteSystem
import Testing

@Suite struct CBORTests {
    /// RFC 8949, appendix A: the examples that are in the subset.
    static let vectors: [(hex: String, value: CBOR)] = [
        ("00", .unsigned(0)), ("01", .int(1)), ("0a", .int(10)), ("17", .int(23)),
        ("1818", .int(24)), ("1819", .int(25)), ("1864", .int(100)), ("1903e8", .int(1000)),
        ("1a000f4240", .int(1_000_000)), ("1b000000e8d4a51000", .int(1_000_000_000_000)),
        ("1bffffffffffffffff", .unsigned(.max)), ("3bffffffffffffffff", .negative(.max)),
        ("20", .int(-1)), ("29", .int(-10)), ("3863", .int(-100)), ("3903e7", .int(-1000)),
        ("fb3ff199999999999a", .double(1.1)), ("fb7e37e43c8800759c", .double(1.0e+300)),
        ("fbc010666666666666", .double(-4.1)), ("fb7ff0000000000000", .double(.infinity)),
        ("fb7ff8000000000000", .double(.nan)), ("fbfff0000000000000", .double(-.infinity)),
        ("fb8000000000000000", .double(-0.0)), ("f4", .bool(false)), ("f5", .bool(true)),
        ("f6", .null), ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])),
        ("60", .text("")), ("6161", .text("a")), ("6449455446", .text("IETF")),
        ("62225c", .text("\"\\")), ("62c3bc", .text("\u{fc}")), ("63e6b0b4", .text("\u{6c34}")),
        ("64f0908591", .text("\u{10151}")), ("80", .array([])),
        ("83010203", .array([.int(1), .int(2), .int(3)])),
        (
            "8301820203820405",
            .array([.int(1), .array([.int(2), .int(3)]), .array([.int(4), .int(5)])])
        ),
        (
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
            .array((1...25).map { CBOR.int($0) })
        ),
        ("a0", .map([:])), ("a201020304", .map([3: .int(4), 1: .int(2)])),
        (
            "a26161016162820203",
            .map(sorting: [
                .init(key: .text("b"), value: .array([.int(2), .int(3)])),
                .init(key: .text("a"), value: .int(1)),
            ])
        ),
        (
            "826161a161626163",
            .array([.text("a"), .map([.init(key: .text("b"), value: .text("c"))])])
        ),
        // Boundaries of header sizes, and keys whose order by encoding is not that by value.
        ("18ff", .int(255)), ("190100", .int(256)), ("19ffff", .int(65_535)),
        ("1a00010000", .int(65_536)), ("1affffffff", .int(4_294_967_295)),
        ("1b0000000100000000", .int(4_294_967_296)), ("3b7fffffffffffffff", .int(Int64.min)),
        ("a3012018182020f6", .map([-1: .null, 24: .int(-1), 1: .int(-1)])),
    ]

    @Test(arguments: vectors.indices)
    func `an example has one encoding and decodes to its value`(index: Int) throws {
        let (hex, value) = Self.vectors[index]
        #expect(value.encoded() == bytes(hex))
        #expect(value.encodedSize == hex.utf8.count / 2)
        #expect(try CBOR.decode(bytes(hex)) == value)
        #expect(try CBOR.decode(([9] + bytes(hex))[1...]) == value)
    }

    @Test(
        arguments: [
            ("", .truncated), ("0001", .trailing), ("f6f6", .trailing),
            // Numbers and lengths that a shorter header could carry.
            ("1800", .notShortest), ("1817", .notShortest), ("1900ff", .notShortest),
            ("1a0000ffff", .notShortest), ("1b00000000ffffffff", .notShortest),
            ("3817", .notShortest), ("3900ff", .notShortest), ("580100", .notShortest),
            ("780161", .notShortest), ("590001ff", .notShortest), ("980100", .notShortest),
            ("b8010000", .notShortest), ("9b000000000000000100", .notShortest),
            // Tags, short floats, undefined, indefinite lengths, a break, simple values.
            ("c074323031332d30332d32315432303a30343a30305a", .forbidden),
            ("c249010000000000000000", .forbidden),
            ("d9d9f700", .forbidden), ("f93c00", .forbidden), ("f97e00", .forbidden),
            ("fa47c35000", .forbidden), ("fa7fc00000", .forbidden), ("f7", .forbidden),
            ("5f42010243030405ff", .forbidden), ("7f657374726561646d696e67ff", .forbidden),
            ("9fff", .forbidden), ("bf6161019fff", .forbidden), ("ff", .forbidden),
            ("81ff", .forbidden), ("f0", .malformed), ("f818", .malformed), ("f8ff", .malformed),
            ("f814", .malformed), ("e0", .malformed), ("1c", .malformed), ("3d", .malformed),
            ("5e", .malformed), ("7c", .malformed), ("9d", .malformed), ("bc", .malformed),
            ("fc", .malformed), ("fe", .malformed),
            // NaNs with a payload, a sign, or signalling.
            ("fb7ff8000000000001", .notCanonicalNaN), ("fbfff8000000000000", .notCanonicalNaN),
            ("fb7ff0000000000001", .notCanonicalNaN),
            // Text that is not UTF-8: lone bytes, overlong, surrogate, beyond the last, cut.
            ("61ff", .invalidText), ("62c080", .invalidText), ("63eda080", .invalidText),
            ("64f4908080", .invalidText), ("61c3", .invalidText), ("a161ff00", .invalidText),
            // Keys.
            ("a201000100", .duplicateKey), ("a2616100616100", .duplicateKey),
            ("a202000100", .unsortedKeys), ("a220000100", .unsortedKeys),
            ("a2616200616100", .unsortedKeys), ("a262616100616200", .unsortedKeys),
            ("81a202000100", .unsortedKeys),
            // Counts and lengths that the rest of the input cannot hold.
            ("9a40000000", .truncated), ("9b0000000040000000", .notShortest),
            ("9b0000000100000000", .truncated), ("9bffffffffffffffff", .truncated),
            ("bb7fffffffffffffff", .truncated), ("5bffffffffffffffff", .truncated),
            ("7b7fffffffffffffff", .truncated), ("8300", .truncated), ("a101", .truncated),
            ("84838281", .truncated),
        ] as [(String, CBORError.Reason)])
    func `a forbidden form is refused with its reason`(
        hex: String, reason: CBORError.Reason
    ) {
        let error = #expect(throws: CBORError.self) { try CBOR.decode(bytes(hex)) }
        #expect(error?.reason == reason)
    }

    @Test func `an error names the place`() {
        let error = #expect(throws: CBORError.self) { try CBOR.decode(bytes("8301021800")) }
        #expect(error == CBORError(.notShortest, at: 3))
    }

    @Test func `32 levels are read and 33 are refused`() throws {
        for (prefix, name) in [("81", "arrays"), ("a100", "maps")] {
            let deep = String(repeating: prefix, count: 32) + "00"
            #expect(try CBOR.decode(bytes(deep)).encoded() == bytes(deep), "\(name)")
            let error = #expect(throws: CBORError.self) { try CBOR.decode(bytes(prefix + deep)) }
            #expect(error?.reason == .tooDeep)
        }
        let hostile = [UInt8](repeating: 0x81, count: 1 << 20)
        let error = #expect(throws: CBORError.self) { try CBOR.decode(hostile) }
        #expect(error?.reason == .tooDeep)
    }

    @Test func `items are counted in all containers together`() throws {
        let value = CBOR.array([.array([.null, .null]), .map([1: .null])])  // 1 + 2 + 2 + 2
        #expect(try CBOR.decode(value.encoded(), limits: .init(itemCount: 7)) == value)
        let error = #expect(throws: CBORError.self) {
            try CBOR.decode(value.encoded(), limits: .init(itemCount: 6))
        }
        #expect(error?.reason == .tooManyItems)
    }

    @Test func `containers that promise the same bytes twice are refused at the header`() {
        // Each of the 16 levels claims all that is left; only one of them could have it.
        let claim = bytes("9a000f0000")
        let input =
            Array(repeatElement(claim, count: 16).joined())
            + [UInt8](repeating: 0, count: 0xF0000)
        let error = #expect(throws: CBORError.self) { try CBOR.decode(input) }
        #expect(error == CBORError(.truncated, at: 5))
    }

    @Test func `a document cut at any byte is refused`() throws {
        let whole = Samples.document.encoded()
        #expect(try CBOR.decode(whole) == Samples.document)
        for count in 0..<whole.count {
            let error = #expect(throws: CBORError.self) { try CBOR.decode(whole[..<count]) }
            #expect(error?.reason == .truncated, "cut at \(count)")
        }
    }

    @Test func `whatever decodes after a mutation encodes to the same bytes`() throws {
        var random = SplitMix(state: 20_260_101)
        let seeds = Self.vectors.map { bytes($0.hex) } + [Samples.document.encoded()]
        var decoded = 0
        for round in 0..<10_000 {
            var input = seeds[round % seeds.count]
            if round % 2 == 0 { input = Samples.document.encoded() }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0...input.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where at < input.count:
                    input[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1 where at < input.count: input.remove(at: at)
                case 2: input.insert(.random(in: 0...255, using: &random), at: at)
                default: input.replaceSubrange(at..., with: input.prefix(at).suffix(3))
                }
            }
            guard let value = try? CBOR.decode(input) else { continue }
            decoded += 1
            try #require(value.encoded() == input)
            try #require(CBOR.decode(value.encoded()) == value)
        }
        #expect(decoded > 500)
    }

    @Test func `composed and decomposed text are two texts and two keys`() throws {
        let composed = CBOR.text("\u{e9}")
        let decomposed = CBOR.text("e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        let map = CBOR.map(sorting: [
            .init(key: composed, value: .int(1)), .init(key: decomposed, value: .int(2)),
        ])
        let read = try CBOR.decode(map.encoded())
        #expect(read == map)
        #expect(read["\u{e9}"] == .int(1))
        #expect(read["e\u{301}"] == .int(2))
    }

    @Test func `every NaN is one value, and zero has two`() {
        let payload = CBOR.double(Double(bitPattern: 0xFFF8_0000_0000_0123))
        #expect(payload == .double(.nan))
        #expect(Set([payload, .double(.nan)]).count == 1)
        #expect(payload.encoded() == bytes("fb7ff8000000000000"))
        #expect(CBOR.double(0) != .double(-0.0))
    }

    @Test func `a map out of order is encoded in order`() {
        let map = CBOR.map([
            .init(key: .int(24), value: .array([.int(1)])), .init(key: .text("b"), value: .null),
            .init(key: .int(1), value: .bytes([7])),
        ])
        #expect(map.encoded() == bytes("a30141071818 8101 6162f6"))
    }

    @Test func `values are read by their kind only`() {
        let document = Samples.document
        #expect(document[0]?.uint == 7)
        #expect(document[1]?.bytesValue?.count == 32)
        #expect(document[3]?.int == -60)
        #expect(document[3]?.uint == nil)
        #expect(document[4]?.arrayValue?.count == 2)
        #expect(document[5]?.boolValue == true)
        #expect(document[6]?.doubleValue == 0.5)
        #expect(document[7]?["camera"]?.textValue == "X100")
        #expect(document[7]?["absent"] == nil)
        #expect(document[99] == nil)
        #expect(CBOR.null[1] == nil)
        #expect(CBOR.unsigned(.max).int == nil)
        #expect(CBOR.negative(.max).int == nil)
        #expect(CBOR.negative(UInt64(Int64.max)).int == .min)
    }
}

private enum Samples {
    static let document = CBOR.map([
        0: .int(7), 1: .bytes([UInt8](repeating: 0xAB, count: 32)), 2: .text("image/jpeg"),
        3: .int(-60), 4: .array([.bytes(Array("2026".utf8)), .bytes(Array("a.jpg".utf8))]),
        5: .bool(true), 6: .double(0.5),
        7: .map([.init(key: .text("camera"), value: .text("X100"))]),
    ])
}

/// A small generator with a seed, so that a failing round can be run again.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

private func bytes(_ hex: String) -> [UInt8] {
    Hexadecimal.bytes(hex.filter { $0 != " " }) ?? []
}
