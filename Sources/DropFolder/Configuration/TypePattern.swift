/// A media type or a family of them: `image/jpeg`, `image/*`, `*/*`.
package struct TypePattern: Hashable, Sendable, CustomStringConvertible {
    /// `nil` for any.
    package let type: String?
    /// `nil` for any.
    package let subtype: String?

    package static let any = TypePattern(type: nil, subtype: nil)

    private init(type: String?, subtype: String?) {
        self.type = type
        self.subtype = subtype
    }

    /// Reads a pattern in any letter case; `nil` where it is none.
    package init?(_ text: String) {
        let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0 == "*" || Self.isToken($0) }) else {
            return nil
        }
        guard parts[0] != "*" || parts[1] == "*" else { return nil }
        type = parts[0] == "*" ? nil : String(parts[0])
        subtype = parts[1] == "*" ? nil : String(parts[1])
    }

    /// Whether a media type, such as `image/jpeg`, is one of these; parameters are left aside.
    package func matches(_ mediaType: String) -> Bool {
        let bare = mediaType.lowercased().prefix { $0 != ";" && $0 != " " }
        let parts = bare.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return type == nil }
        return (type.map { $0 == parts[0] } ?? true) && (subtype.map { $0 == parts[1] } ?? true)
    }

    package var description: String { "\(type ?? "*")/\(subtype ?? "*")" }

    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$&-^_.+".utf8.contains(byte)
                }
            }
    }
}
