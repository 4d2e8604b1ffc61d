/// The common types by their first bytes, for a detector that has no libmagic.
enum PlainLook {
    private static let marks: [(mark: String, type: MIMEType)] = [
        ("GIF87a", "image/gif"), ("GIF89a", "image/gif"), ("%PDF-", "application/pdf"),
        ("PK\u{3}\u{4}", "application/zip"), ("PK\u{5}\u{6}", "application/zip"),
        ("8BPS", "image/vnd.adobe.photoshop"), ("OggS", "application/ogg"),
        ("fLaC", "audio/flac"), ("ID3", "audio/mpeg"), ("MThd", "audio/midi"),
        ("Rar!\u{1A}\u{7}", "application/vnd.rar"),
        ("BZh", "application/x-bzip2"), ("{\\rtf", "text/rtf"), ("FLV\u{1}", "video/x-flv"),
    ]

    static func type(of head: Excerpt) -> MIMEType {
        if head.has("RIFF") {
            switch head.code(at: 8) {
            case "WEBP": return "image/webp"
            case "AVI ": return "video/x-msvideo"
            case "WAVE": return "audio/vnd.wave"
            default: break
            }
        }
        if head.has([0x1A, 0x45, 0xDF, 0xA3]) {
            let isWebM = head.firstIndex(of: "webm", limit: 64) != nil
            return isWebM ? "video/webm" : "video/matroska"
        }
        if head.has("BM"), head.number(4, at: 14, .little).map({ (12...124).contains($0) }) == true
        {
            return "image/bmp"
        }
        if head.has([0, 0, 1, 0]), head.byte(at: 9) == 0 { return "image/vnd.microsoft.icon" }
        if head.has([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]) { return "application/x-7z-compressed" }
        if let known = marks.first(where: { head.has($0.mark) }) { return known.type }
        return TextType.isText(head, count: 4096) ? .plainText : .octetStream
    }

    /// A PDF behind bytes that do not belong to it, as readers accept it.
    static func hasLatePDF(_ head: Excerpt) -> Bool {
        guard let mark = head.firstIndex(of: "%PDF-", limit: 4096) else { return false }
        return head.has("1.", at: mark + 5) || head.has("2.", at: mark + 5)
    }
}
