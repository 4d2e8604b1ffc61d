/// Finds the first element of an XML text. One pass over bytes, no nesting, nothing expanded.
struct XMLProlog {
    enum Outcome: Equatable {
        /// An HTML document type.
        case html
        /// The wrapper that XMP packets carry.
        case packet
        /// The local name of the first element, and whether an XML declaration stood before it.
        case root(String, isDeclared: Bool)
    }

    private let bytes: [UInt8]
    private var position = 0
    private var isDeclared = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// `nil` where the text does not begin like XML or HTML, or no element comes.
    mutating func scan() -> Outcome? {
        while true {
            skipSpace()
            guard starts("<") else { return nil }
            if starts("<!--") {
                guard skip(past: "-->") else { return nil }
            } else if starts("<?xpacket") {
                return .packet
            } else if starts("<?") {
                isDeclared = isDeclared || starts("<?xml ")
                guard skip(past: "?>") else { return nil }
            } else if starts("<!doctype", ignoringCase: true) {
                if isHTMLDoctype { return .html }
                guard skipDoctype() else { return nil }
            } else {
                return element()
            }
        }
    }

    private var isHTMLDoctype: Bool {
        let word = bytes[min(position + 9, bytes.count)...].drop { $0 <= 0x20 }.prefix(4)
        return word.count == 4 && zip(word, "html".utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    private mutating func element() -> Outcome? {
        var name = ""
        var index = position + 1
        while index < bytes.count, name.utf8.count < 64 {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: ":"): name = ""
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                guard index > position + 1 else { return nil }
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ">"), UInt8(ascii: "/"):
                return name.isEmpty ? nil : .root(name, isDeclared: isDeclared)
            default: return nil
            }
            index += 1
        }
        return nil
    }

    private mutating func skipDoctype() -> Bool {
        // The internal subset, in brackets, may hold ">" of its own.
        var isInside = false
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "["): isInside = true
            case UInt8(ascii: "]"): isInside = false
            case UInt8(ascii: ">") where !isInside: return true
            default: break
            }
        }
        return false
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] <= 0x20, bytes[position] != 0 {
            position += 1
        }
    }

    private mutating func skip(past text: String) -> Bool {
        guard let found = Excerpt(bytes).firstIndex(of: text, from: position) else { return false }
        position = found + text.utf8.count
        return true
    }

    private func starts(_ text: String, ignoringCase: Bool = false) -> Bool {
        guard bytes.count - position >= text.utf8.count else { return false }
        return zip(bytes[position...], text.utf8).allSatisfy {
            $0 == $1 || (ignoringCase && $0 | 0x20 == $1)
        }
    }
}
