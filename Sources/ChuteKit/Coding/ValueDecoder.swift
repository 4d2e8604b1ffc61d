/// Turns values of documents into `Decodable` values: the counterpart of `ValueEncoder`.
public struct ValueDecoder: Sendable {
    /// A decoder.
    public init() {}

    /// Throws `DecodingError` where the fields are not those of `type`.
    public func decode<Result: Decodable>(
        _ type: Result.Type = Result.self, from fields: Fields
    ) throws -> Result {
        try decode(type, from: .map(fields))
    }

    /// Throws `DecodingError` where the value is none of `type`.
    public func decode<Result: Decodable>(
        _ type: Result.Type = Result.self, from value: Value
    ) throws -> Result {
        try DecodingPlace(value: value, codingPath: []).unbox(type)
    }
}

extension Document {
    /// The document as a value of a type of your own; the type may have a property `_id`.
    ///
    /// Throws `DecodingError` where it does not fit.
    public func decode<Result: Decodable>(_ type: Result.Type = Result.self) throws -> Result {
        var fields = fields
        fields["_id"] = .string(id.description)
        return try ValueDecoder().decode(type, from: fields)
    }
}

/// One place that is being decoded.
private struct DecodingPlace: Decoder {
    let value: Value
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func unbox<Result: Decodable>(_ type: Result.Type) throws -> Result {
        let special: Any?
        switch type {
        case is Value.Type: special = value
        case is AttachmentToken.Type: special = value.attachmentToken
        case is [UInt8].Type: special = value.bytes
        default: special = nil
        }
        if let special = special as? Result { return special }
        return try type.init(from: self)
    }

    func child(_ value: Value, _ key: any CodingKey) -> DecodingPlace {
        DecodingPlace(value: value, codingPath: codingPath + [key])
    }

    func mismatch<Result>(_ type: Any.Type, as result: Result.Type = Result.self) -> DecodingError {
        .typeMismatch(
            type, .init(codingPath: codingPath, debugDescription: "there is \(value.kindName)"))
    }

    func number<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard let integer = value.integer else { throw mismatch(type, as: type) }
        guard let number = Number(exactly: integer) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath, debugDescription: "\(integer) does not fit \(type)"))
        }
        return number
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let fields = value.map else { throw mismatch(Fields.self, as: type) }
        return KeyedDecodingContainer(KeyedDecoding(place: self, fields: fields))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let values = value.array else { throw mismatch([Value].self, as: Value.self) }
        return UnkeyedDecoding(place: self, values: values)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleDecoding(place: self) }
}

private struct SingleDecoding: SingleValueDecodingContainer {
    let place: DecodingPlace
    var codingPath: [any CodingKey] { place.codingPath }

    func decodeNil() -> Bool { place.value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let flag = place.value.bool else { throw place.mismatch(type, as: type) }
        return flag
    }

    func decode(_ type: String.Type) throws -> String {
        guard let text = place.value.string else { throw place.mismatch(type, as: type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let number = place.value.double else { throw place.mismatch(type, as: type) }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try place.number(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try place.number(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try place.number(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try place.number(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try place.number(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try place.number(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try place.number(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try place.number(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try place.number(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try place.number(type) }
    func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
        try place.unbox(type)
    }
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let place: DecodingPlace
    let fields: Fields
    var codingPath: [any CodingKey] { place.codingPath }
    var allKeys: [Key] { fields.all.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    private func child(_ key: any CodingKey) throws -> DecodingPlace {
        guard let value = fields[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no such field"))
        }
        return place.child(value, key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try child(key).value == .null }

    func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
        try child(key).unbox(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try child(PlaceKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let place: DecodingPlace
    let values: [Value]
    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }
    private(set) var currentIndex = 0

    init(place: DecodingPlace, values: [Value]) {
        self.place = place
        self.values = values
    }

    private mutating func next() throws -> DecodingPlace {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self,
                .init(
                    codingPath: codingPath, debugDescription: "there are only \(values.count)"))
        }
        defer { currentIndex += 1 }
        return place.child(values[currentIndex], PlaceKey(currentIndex))
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, values[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
        try next().unbox(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try next() }
}

extension Value {
    /// What kind of value it is, for messages.
    fileprivate var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a bool"
        case .integer: "a whole number"
        case .double: "a double"
        case .string: "text"
        case .bytes: "bytes"
        case .array: "an array"
        case .map: "a map"
        case .attachment: "the token of an attachment"
        }
    }
}
