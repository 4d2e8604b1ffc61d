extension Value: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// Text.
    public init(stringLiteral text: String) { self = .string(text) }
}

extension Value: ExpressibleByIntegerLiteral {
    /// A whole number.
    public init(integerLiteral number: Int64) { self = .integer(number) }
}

extension Value: ExpressibleByFloatLiteral {
    /// A number of 64 bits.
    public init(floatLiteral number: Double) { self = .double(number) }
}

extension Value: ExpressibleByBooleanLiteral {
    /// True or false.
    public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}

extension Value: ExpressibleByArrayLiteral {
    /// Values in an order.
    public init(arrayLiteral values: Value...) { self = .array(values) }
}

extension Value: ExpressibleByDictionaryLiteral {
    /// Values by name; of two with one name the later counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        var fields = Fields()
        for (name, value) in elements { fields[name] = value }
        self = .map(fields)
    }
}
