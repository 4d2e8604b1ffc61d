/// Turns `Encodable` values into values of documents.
///
/// Tokens of attachments, `Value`s and arrays of bytes stay what they are; other types become
/// numbers, text, arrays and maps as their own `encode(to:)` says.
public struct ValueEncoder: Sendable {
    /// An encoder.
    public init() {}

    /// The fields of `value`, which has to encode itself as a map. Throws `EncodingError`.
    public func encode(fields value: some Encodable) throws -> Fields {
        guard case .map(let fields) = try encode(value) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "a document is a map of fields"))
        }
        return fields
    }

    /// The value of `value`. Throws `EncodingError`, and what its `encode(to:)` throws.
    public func encode(_ value: some Encodable) throws -> Value {
        try EncodingNode(path: []).box(value)
    }
}

/// One place that is being encoded. Not `Sendable`: lives within one call of `encode`.
private final class EncodingNode: Encoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private enum Shape { case none, single(Value), array, map }

    private var shape = Shape.none
    private var elements: [EncodingNode] = []
    private var names: [String] = []

    init(path: [any CodingKey]) { codingPath = path }

    var value: Value {
        switch shape {
        case .none: .map(Fields())
        case .single(let value): value
        case .array: .array(elements.map(\.value))
        case .map: .map(zip(names, elements).reduce(into: Fields()) { $0[$1.0] = $1.1.value })
        }
    }

    func box(_ value: some Encodable) throws -> Value {
        switch value {
        case let value as Value: return value
        case let token as AttachmentToken: return .attachment(token)
        case let attachment as any AttachmentNaming: return .attachment(attachment.token)
        // By its type: an empty array of anything can be cast to one of bytes.
        case let bytes as [UInt8] where type(of: value) == [UInt8].self: return .bytes(bytes)
        default:
            try value.encode(to: self)
            return self.value
        }
    }

    func set(_ value: Value) { shape = .single(value) }

    var count: Int { elements.count }

    func element() -> EncodingNode {
        shape = .array
        return child(PlaceKey(count))
    }

    func field(_ key: any CodingKey) -> EncodingNode {
        shape = .map
        names.append(key.stringValue)
        return child(key)
    }

    private func child(_ key: any CodingKey) -> EncodingNode {
        let node = EncodingNode(path: codingPath + [key])
        elements.append(node)
        return node
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .none = shape { shape = .map }
        return KeyedEncodingContainer(KeyedEncoding<Key>(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .none = shape { shape = .array }
        return UnkeyedEncoding(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoding(node: self) }
}

/// What a place holds that takes one value.
private struct SingleEncoding: SingleValueEncodingContainer {
    let node: EncodingNode
    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Double) { node.set(.double(value)) }
    func encode(_ value: Float) { node.set(.double(Double(value))) }
    func encode(_ value: Int) throws { try encode(number: value) }
    func encode(_ value: Int8) throws { try encode(number: value) }
    func encode(_ value: Int16) throws { try encode(number: value) }
    func encode(_ value: Int32) throws { try encode(number: value) }
    func encode(_ value: Int64) throws { try encode(number: value) }
    func encode(_ value: UInt) throws { try encode(number: value) }
    func encode(_ value: UInt8) throws { try encode(number: value) }
    func encode(_ value: UInt16) throws { try encode(number: value) }
    func encode(_ value: UInt32) throws { try encode(number: value) }
    func encode(_ value: UInt64) throws { try encode(number: value) }
    func encode(_ value: some Encodable) throws { node.set(try node.box(value)) }

    private func encode(number: some BinaryInteger) throws {
        guard let exact = Int64(exactly: number) else {
            throw EncodingError.invalidValue(
                number,
                .init(
                    codingPath: codingPath,
                    debugDescription: "documents hold whole numbers of 64 bits with a sign"))
        }
        node.set(.integer(exact))
    }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode
    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil(forKey key: Key) { node.field(key).set(.null) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        let field = node.field(key)
        field.set(try field.box(value))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        node.field(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.field(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { node.field(PlaceKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { node.field(key) }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let node: EncodingNode
    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.count }

    func encodeNil() { node.element().set(.null) }

    func encode(_ value: some Encodable) throws {
        let element = node.element()
        element.set(try element.box(value))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        node.element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        node.element().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { node.element() }
}
