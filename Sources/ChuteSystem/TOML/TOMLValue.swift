/// A value in a TOML text, with its place.
package struct TOMLValue: Hashable, Sendable {
    package let position: TOMLPosition
    package let content: Content

    package init(position: TOMLPosition, content: Content) {
        self.position = position
        self.content = content
    }

    package enum Content: Hashable, Sendable {
        case table([TOMLEntry])
        case array([TOMLValue])
        case string(String)
        case integer(Int64)
        case real(Double)
        case boolean(Bool)
        /// A date, a time or both, as it was written.
        case time(String)
    }

    /// What kind of value this is, as a person says it: "a string".
    package var kind: String {
        switch content {
        case .table: "a table"
        case .array: "a list"
        case .string: "a string"
        case .integer: "a whole number"
        case .real: "a number"
        case .boolean: "true or false"
        case .time: "a date or time"
        }
    }
}

/// A key of a table and what it is set to.
package struct TOMLEntry: Hashable, Sendable {
    package let key: String
    /// Where the key stands; the value's own place is in `value`.
    package let position: TOMLPosition
    package let value: TOMLValue

    package init(key: String, position: TOMLPosition, value: TOMLValue) {
        self.key = key
        self.position = position
        self.value = value
    }
}
