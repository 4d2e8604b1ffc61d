/// A field that a condition is about: `field("age")`.
public func field(_ name: String) -> FieldExpression { FieldExpression(path: FieldPath([name])) }

/// A field at the end of a path that a condition is about: `field(["address", "town"])`.
public func field(_ path: FieldPath) -> FieldExpression { FieldExpression(path: path) }

/// A place in documents that a condition is about.
public struct FieldExpression: Sendable {
    /// The way to the place.
    public let path: FieldPath

    /// The field of the map that is here.
    public subscript(name: String) -> FieldExpression {
        FieldExpression(path: FieldPath(path.names + [name]))
    }

    /// Whether there is a value; `null` is one.
    public var exists: Predicate { Predicate(.exists(path)) }

    /// Text that begins with a text, or bytes that begin with bytes, compared byte by byte. Nothing
    /// begins with any other kind of value.
    public func hasPrefix(_ prefix: Value) -> Predicate {
        guard let key = OrderKey.prefix(prefix) else { return Predicate(.or([])) }
        return Predicate(.hasPrefix(path, prefix, key: key))
    }

    /// A value that equals one of these.
    public func isIn(_ values: [Value]) -> Predicate {
        let operands = values.map { Predicate.Operand($0) }.sorted {
            $0.key.lexicographicallyPrecedes($1.key)
        }
        let distinct = operands.enumerated().filter {
            $0 == 0 || operands[$0 - 1].key != $1.key
        }
        return Predicate(.isIn(path, distinct.map(\.element)))
    }

    /// A value that equals this one; 1 and 1.0 are equal.
    public static func == (field: Self, value: Value) -> Predicate { field.compare(.equal, value) }

    /// A value, and another one than this.
    public static func != (field: Self, value: Value) -> Predicate {
        field.exists && !field.compare(.equal, value)
    }

    /// A value of the same kind that is less.
    public static func < (field: Self, value: Value) -> Predicate { field.compare(.less, value) }

    /// A value of the same kind that is not greater.
    public static func <= (field: Self, value: Value) -> Predicate {
        field.compare(.lessOrEqual, value)
    }

    /// A value of the same kind that is greater.
    public static func > (field: Self, value: Value) -> Predicate { field.compare(.greater, value) }

    /// A value of the same kind that is not less.
    public static func >= (field: Self, value: Value) -> Predicate {
        field.compare(.greaterOrEqual, value)
    }

    private func compare(_ comparison: Predicate.Comparison, _ value: Value) -> Predicate {
        Predicate(.compare(path, comparison, .init(value)))
    }
}
