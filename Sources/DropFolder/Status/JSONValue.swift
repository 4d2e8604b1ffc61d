/// A value to be written as JSON; the keys of an object keep their order.
package enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Hashable, Sendable {
        let key: String
        let value: JSONValue
    }

    package static func count(_ count: UInt64) -> JSONValue { .integer(Int64(clamping: count)) }
    package static func count(_ count: Int) -> JSONValue { .integer(Int64(count)) }
    package static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(key: $0.key, value: $0.value) })
    }

    /// The text, indented by two spaces a level, without a line end.
    package var text: String {
        var text = ""
        write(to: &text, indentation: "\n")
        return text
    }

    private func write(to text: inout String, indentation: String) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                text += (index == 0 ? "" : ",") + indentation + "  "
                value.write(to: &text, indentation: indentation + "  ")
            }
            text += values.isEmpty ? "]" : indentation + "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                text += (index == 0 ? "" : ",") + indentation + "  "
                Self.write(member.key, to: &text)
                text += ": "
                member.value.write(to: &text, indentation: indentation + "  ")
            }
            text += members.isEmpty ? "}" : indentation + "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _
            where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
                || scalar.value == 0x2028 || scalar.value == 0x2029:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
