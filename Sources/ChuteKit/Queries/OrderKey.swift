/// The one order of all values, as bytes: a value comes before another exactly where its key does,
/// byte by byte, and two are equal where their keys are.
///
/// No field, null, false, true, numbers, texts, bytes, arrays, maps, attachments. Whole and other
/// numbers compare by what they are, without rounding; NaN comes before all of them and 0.0 is
/// -0.0. Texts and bytes compare byte by byte, arrays and maps by their elements in order.
///
/// A key says itself where it ends, so that keys can follow each other; `invert` turns its order.
enum OrderKey {
    /// The first byte of a key.
    enum Kind: UInt8 {
        case missing = 1
        case null, bool, number, string, bytes, array, map, attachment
    }

    /// Ends arrays and maps: less than every first byte.
    private static let end: UInt8 = 0

    /// The key of a value, or of a field that is not there.
    static func of(_ value: Value?) -> [UInt8] {
        var key: [UInt8] = []
        append(value, to: &key)
        return key
    }

    /// Adds the key of a value, or of a field that is not there.
    static func append(_ value: Value?, to key: inout [UInt8]) {
        guard let value else { return key.append(Kind.missing.rawValue) }
        switch value {
        case .null: key.append(Kind.null.rawValue)
        case .bool(let flag):
            key.append(Kind.bool.rawValue)
            key.append(flag ? 1 : 0)
        case .integer(let number):
            // What is lost by rounding to the nearest double is at most 2^9.
            let nearest = Double(number)
            append(nearest, rest: Int(Int128(number) - Int128(nearest)), to: &key)
        case .double(let number): append(number, rest: 0, to: &key)
        case .string(let text):
            key.append(Kind.string.rawValue)
            append(text, to: &key)
        case .bytes(let bytes):
            key.append(Kind.bytes.rawValue)
            appendEscaped(bytes, to: &key)
            appendEnd(to: &key)
        case .array(let values):
            key.append(Kind.array.rawValue)
            for value in values { append(value, to: &key) }
            key.append(end)
        case .map(let fields):
            key.append(Kind.map.rawValue)
            for field in fields.all {
                key.append(Kind.string.rawValue)
                append(field.name, to: &key)
                append(field.value, to: &key)
            }
            key.append(end)
        case .attachment(let token): append(token, to: &key)
        }
    }

    /// What the keys of all texts, or bytes, that begin with `prefix` begin with; `nil` for any
    /// other kind of value.
    static func prefix(_ prefix: Value) -> [UInt8]? {
        switch prefix {
        case .string(let text):
            var key = [Kind.string.rawValue]
            appendEscaped(Array(text.utf8), to: &key)
            return key
        case .bytes(let bytes):
            var key = [Kind.bytes.rawValue]
            appendEscaped(bytes, to: &key)
            return key
        case .null, .bool, .integer, .double, .array, .map, .attachment: return nil
        }
    }

    /// Turns the order of what was added from `start` on.
    static func invert(_ key: inout [UInt8], from start: Int) {
        for place in start..<key.count { key[place] = ~key[place] }
    }

    /// Whether this is the key of the one number that is none.
    static func isNaN(_ key: [UInt8]) -> Bool {
        key.count > 2 && key[0] == Kind.number.rawValue && key[1] == 0 && key[2] == 0
    }

    private static func append(_ nearest: Double, rest: Int, to key: inout [UInt8]) {
        key.append(Kind.number.rawValue)
        var bits: UInt64 = 0
        if nearest == 0 {
            bits = 1 << 63
        } else if !nearest.isNaN {
            bits = nearest.bitPattern
            bits = nearest < 0 ? ~bits : bits | 1 << 63
        }
        for shift in stride(from: 56, through: 0, by: -8) {
            key.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        let shifted = UInt16(rest + 0x8000)
        key.append(UInt8(shifted >> 8))
        key.append(UInt8(shifted & 0xFF))
    }

    private static func append(_ text: String, to key: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            if utf8.contains(0) { appendEscaped(utf8, to: &key) } else { key += utf8 }
        }
        appendEnd(to: &key)
    }

    private static func append(_ token: AttachmentToken, to key: inout [UInt8]) {
        key.append(Kind.attachment.rawValue)
        key += token.id.digest.bytes
        for shift in stride(from: 56, through: 0, by: -8) {
            key.append(UInt8(truncatingIfNeeded: token.id.byteCount >> UInt64(shift)))
        }
        let metadata = token.metadata.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
        for (name, text) in metadata {
            key.append(Kind.string.rawValue)
            append(name, to: &key)
            append(text, to: &key)
        }
        key.append(end)
    }

    /// A zero becomes 0 255, so that 0 1 is an end which comes before every further byte.
    private static func appendEscaped(_ bytes: some Collection<UInt8>, to key: inout [UInt8]) {
        for byte in bytes {
            key.append(byte)
            if byte == 0 { key.append(0xFF) }
        }
    }

    private static func appendEnd(to key: inout [UInt8]) {
        key.append(0)
        key.append(1)
    }
}
