/// A media type such as `image/jpeg`: type and subtype in lower case, no parameters.
package struct MIMEType: Hashable, Sendable, CustomStringConvertible {
    /// What stands before the slash, such as `image`.
    package let type: String
    /// What stands after the slash, such as `jpeg`.
    package let subtype: String

    /// `nil` where `text` is not two tokens of RFC 6838 with a slash between them. Parameters
    /// (`; charset=...`) are left out.
    package init?(_ text: String) {
        let essence = text.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        let parts = essence.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, let type = Self.token(parts[0]), let subtype = Self.token(parts[1])
        else { return nil }
        self.type = type
        self.subtype = subtype
    }

    package var description: String { "\(type)/\(subtype)" }

    /// Says little of what the file is: any bytes, any text, or a container of anything.
    package var isVague: Bool { Self.vague.contains(self) }

    /// The name that the table `MIMEAliases` prefers for this type.
    package var canonical: MIMEType { MIMEAliases.canonical(of: self) }

    /// True of two names of one type, such as `image/x-ms-bmp` and `image/bmp`.
    package func isSame(as other: MIMEType) -> Bool { canonical == other.canonical }

    package static let octetStream: MIMEType = "application/octet-stream"
    package static let plainText: MIMEType = "text/plain"
    /// What an empty file is.
    package static let empty: MIMEType = "inode/x-empty"

    private static let vague: Set<MIMEType> = [octetStream, plainText, "application/zip"]

    private static func token(_ bytes: Substring.UTF8View.SubSequence) -> String? {
        guard (1...127).contains(bytes.count) else { return nil }
        var text = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "&"),
                UInt8(ascii: "-"), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "+"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                text.unicodeScalars.append(Unicode.Scalar(byte | 0x20))
            default: return nil
            }
        }
        return text
    }
}

extension MIMEType: ExpressibleByStringLiteral {
    /// For the names written in this source. Traps on what is not a type.
    package init(stringLiteral text: String) {
        guard let type = MIMEType(text) else { preconditionFailure("not a media type: \(text)") }
        self = type
    }
}
