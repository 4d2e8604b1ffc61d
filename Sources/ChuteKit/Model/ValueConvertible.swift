/// What a document can hold as it is: `doc["title"].set(title)`, `Value(count)`.
public protocol ValueConvertible: Sendable {
    /// As a value of a document.
    var documentValue: Value { get }
}

extension Value: ValueConvertible {
    /// The value itself.
    public var documentValue: Value { self }

    /// The value of something that a document can hold.
    public init(_ convertible: some ValueConvertible) { self = convertible.documentValue }
}

extension String: ValueConvertible {
    /// Text.
    public var documentValue: Value { .string(self) }
}

extension Int: ValueConvertible {
    /// A whole number.
    public var documentValue: Value { .integer(Int64(self)) }
}

extension Int64: ValueConvertible {
    /// A whole number.
    public var documentValue: Value { .integer(self) }
}

extension Double: ValueConvertible {
    /// A number of 64 bits.
    public var documentValue: Value { .double(self) }
}

extension Bool: ValueConvertible {
    /// True or false.
    public var documentValue: Value { .bool(self) }
}

extension Fields: ValueConvertible {
    /// A map.
    public var documentValue: Value { .map(self) }
}

extension AttachmentToken: ValueConvertible {
    /// The token.
    public var documentValue: Value { .attachment(self) }
}

extension Attachment: ValueConvertible {
    /// Its token.
    public var documentValue: Value { .attachment(token) }
}
