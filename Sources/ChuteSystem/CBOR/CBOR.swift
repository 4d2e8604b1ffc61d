/// A value of the deterministic subset of CBOR (RFC 8949) that Chute stores and sends.
///
/// Equal values have equal encodings and the other way round: text is compared by its bytes (NFC
/// and NFD are two texts), doubles by their bits with a single NaN, 0.0 and -0.0 apart. The order
/// of a map's entries counts in a comparison; `map(sorting:)`, the dictionary form and the decoder
/// give them in the order of the encoding.
package enum CBOR: Sendable {
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBOR])
    /// Entries with unique keys, best in the bytewise order of the encoded keys.
    case map([Entry])
    case bool(Bool)
    case null
    case double(Double)

    package struct Entry: Hashable, Sendable {
        package let key: CBOR
        package let value: CBOR

        package init(key: CBOR, value: CBOR) {
            self.key = key
            self.value = value
        }
    }

    /// A number of either sign.
    package static func int(_ number: Int64) -> CBOR {
        number < 0 ? .negative(UInt64(bitPattern: ~number)) : .unsigned(UInt64(number))
    }

    /// A number of either sign.
    package static func int(_ number: Int) -> CBOR { int(Int64(number)) }

    /// A map with its entries in order. A key twice stops the program.
    package static func map(sorting entries: [Entry]) -> CBOR {
        let keyed = entries.map { (encodedKey: $0.key.encoded(), entry: $0) }.sorted {
            $0.encodedKey.lexicographicallyPrecedes($1.encodedKey)
        }
        for (left, right) in zip(keyed, keyed.dropFirst()) {
            precondition(left.encodedKey != right.encodedKey, "a map key twice")
        }
        return .map(keyed.map(\.entry))
    }

    /// A map of numbered fields, in order.
    package static func map(_ fields: [Int: CBOR]) -> CBOR {
        map(sorting: fields.map { Entry(key: .int($0.key), value: $0.value) })
    }
}

extension CBOR {
    package var uint: UInt64? {
        if case .unsigned(let number) = self { number } else { nil }
    }

    /// The number where it fits.
    package var int: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { ~$0 }
        default: nil
        }
    }

    package var bytesValue: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    package var textValue: String? {
        if case .text(let text) = self { text } else { nil }
    }

    package var arrayValue: [CBOR]? {
        if case .array(let items) = self { items } else { nil }
    }

    package var mapValue: [Entry]? {
        if case .map(let entries) = self { entries } else { nil }
    }

    package var boolValue: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    package var doubleValue: Double? {
        if case .double(let number) = self { number } else { nil }
    }

    package var isNull: Bool { self == .null }

    /// The value of a numbered field; `nil` without it, and where this is no map.
    package subscript(key: Int) -> CBOR? { value(of: .int(key)) }

    /// The value of a named field, by the bytes of the name.
    package subscript(key: String) -> CBOR? { value(of: .text(key)) }

    private func value(of key: CBOR) -> CBOR? {
        guard case .map(let entries) = self else { return nil }
        for entry in entries where entry.key == key { return entry.value }
        return nil
    }
}

extension CBOR: Hashable {
    package static func == (left: CBOR, right: CBOR) -> Bool {
        switch (left, right) {
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.negative(let left), .negative(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.text(let left), .text(let right)):
            left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.null, .null): true
        case (.double(let left), .double(let right)): left.cborBits == right.cborBits
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .unsigned(let number):
            hasher.combine(0)
            hasher.combine(number)
        case .negative(let number):
            hasher.combine(1)
            hasher.combine(number)
        case .bytes(let bytes):
            hasher.combine(2)
            hasher.combine(bytes)
        case .text(var text):
            hasher.combine(3)
            hasher.combine(text.utf8.count)
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .array(let items):
            hasher.combine(4)
            hasher.combine(items)
        case .map(let entries):
            hasher.combine(5)
            hasher.combine(entries)
        case .bool(let flag):
            hasher.combine(6)
            hasher.combine(flag)
        case .null:
            hasher.combine(7)
        case .double(let number):
            hasher.combine(8)
            hasher.combine(number.cborBits)
        }
    }
}

extension Double {
    /// The bits that stand for this number in the encoding: the same for every NaN.
    var cborBits: UInt64 { isNaN ? 0x7FF8_0000_0000_0000 : bitPattern }
}
