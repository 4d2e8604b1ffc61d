import ChuteSystem

/// One value in a document.
public indirect enum Value: Hashable, Sendable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number of 64 bits; every NaN is one NaN.
    case double(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case bytes([UInt8])
    /// Values in an order.
    case array([Value])
    /// Values by name.
    case map(Fields)
    /// The token of an attachment.
    case attachment(AttachmentToken)

    /// The text, if it is text.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The whole number, if it is one.
    public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The number, if it is one, whole or not.
    public var double: Double? {
        switch self {
        case .double(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }
    /// The bytes, if they are bytes.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    /// True or false, if it is either.
    public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    /// The values in their order, if it is an array.
    public var array: [Value]? { if case .array(let values) = self { values } else { nil } }
    /// The values by name, if it is a map.
    public var map: Fields? { if case .map(let fields) = self { fields } else { nil } }
    /// The token, if it is one.
    public var attachmentToken: AttachmentToken? {
        if case .attachment(let token) = self { token } else { nil }
    }
}

/// Values by name, ordered by the bytes of the names.
public struct Fields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// One name and its value.
    public struct Field: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: Value
    }

    /// All fields, in the order of the bytes of their names.
    public private(set) var all: [Field] = []

    /// No fields.
    public init() {}

    /// Fields of which no two have one name, in any order.
    init(distinct fields: [Field]) {
        all = fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// These fields; of two with one name the later counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        all.reserveCapacity(elements.count)
        for (name, value) in elements { self[name] = value }
    }

    /// The value of a name, compared byte by byte; `nil` removes it.
    public subscript(name: String) -> Value? {
        get {
            let index = position(of: name)
            return isField(name, at: index) ? all[index].value : nil
        }
        set {
            let index = position(of: name)
            switch (isField(name, at: index), newValue) {
            case (true, .some(let value)): all[index].value = value
            case (true, .none): all.remove(at: index)
            case (false, .some(let value)):
                all.insert(Field(name: name, value: value), at: index)
            case (false, .none): break
            }
        }
    }

    private func isField(_ name: String, at index: Int) -> Bool {
        index < all.count && all[index].name.utf8.elementsEqual(name.utf8)
    }

    private func position(of name: String) -> Int {
        all.partitioningIndex { !$0.name.utf8.lexicographicallyPrecedes(name.utf8) }
    }

    /// The tokens in these fields, nested ones too.
    public var attachmentTokens: [AttachmentToken] {
        var tokens: [AttachmentToken] = []
        for field in all { field.value.collect(&tokens) }
        return tokens
    }
}

extension Value {
    fileprivate func collect(_ tokens: inout [AttachmentToken]) {
        switch self {
        case .attachment(let token): tokens.append(token)
        case .array(let values): for value in values { value.collect(&tokens) }
        case .map(let fields): for field in fields.all { field.value.collect(&tokens) }
        case .null, .bool, .integer, .double, .string, .bytes: break
        }
    }
}
