/// Sorts out text: prose that begins like a picture, JSON longer than the look, and plain text
/// for a detector without libmagic.
enum TextType {
    /// A better name than `verdict` where it rests on nothing but the first word of a text.
    static func corrected(_ verdict: MIMEType, head: Excerpt) -> MIMEType {
        switch verdict {
        case "image/gif", "image/bmp":
            // The sizes behind the mark are numbers of 16 bits: in no true picture are all
            // bytes of the header and of what follows letters.
            isText(head, count: 64) ? .plainText : verdict
        case "application/pdf":
            isPDFVersion(head) || !isText(head, count: 64) ? verdict : .plainText
        case "image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-pixmap":
            isNetpbm(head) ? verdict : isText(head, count: 64) ? .plainText : .octetStream
        default: verdict
        }
    }

    /// JSON of which only the beginning was looked at, by its first mark and its name.
    static func isLongJSON(_ head: Excerpt, name: FileExtension) -> Bool {
        guard ["json", "geojson", "har", "ipynb"].contains(name.text) else { return false }
        let first = head.slice(at: 0, count: 64).first { $0 > 0x20 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Whether the first bytes are text: no control bytes but those of lines and pages.
    static func isText(_ head: Excerpt, count: Int) -> Bool {
        let bytes = head.slice(at: 0, count: count)
        return !bytes.isEmpty
            && bytes.allSatisfy { byte in
                byte >= 0x20 && byte != 0x7F || (0x08...0x0D).contains(byte) || byte == 0x1B
            }
    }

    private static func isPDFVersion(_ head: Excerpt) -> Bool {
        guard let mark = head.firstIndex(of: "%PDF-", limit: 1024) else { return false }
        return head.byte(at: mark + 5).map(isDigit) ?? false
    }

    /// After the mark two numbers follow, between them only blanks and comments.
    private static func isNetpbm(_ head: Excerpt) -> Bool {
        var numbers = 0
        var isInNumber = false
        var isComment = false
        for byte in head.slice(at: 2, count: 4096) {
            if isComment {
                isComment = byte != 0x0A && byte != 0x0D
            } else if isDigit(byte) {
                if !isInNumber { numbers += 1 }
                isInNumber = true
            } else if byte == UInt8(ascii: "#") {
                isComment = true
                isInNumber = false
            } else if byte == 0x20 || (0x09...0x0D).contains(byte) {
                isInNumber = false
                if numbers == 2 { return true }
            } else {
                return false
            }
        }
        return numbers >= 2
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
