/// Tells a packed SVG from other gzip files, by its name or the name kept in its header:
/// nothing is unpacked to be named.
enum GzipType {
    static func type(of head: Excerpt, name: FileExtension) -> MIMEType? {
        guard head.has([0x1F, 0x8B, 0x08]), let flags = head.byte(at: 3) else { return nil }
        if name.text == "svgz" || keptName(head, flags).hasSuffix(".svg") {
            return "image/svg+xml-compressed"
        }
        return "application/gzip"
    }

    private static func keptName(_ head: Excerpt, _ flags: UInt8) -> String {
        guard flags & 0x08 != 0 else { return "" }
        var start = 10
        if flags & 0x04 != 0 {
            guard let extra = head.number(2, at: start, .little) else { return "" }
            start += 2 + Int(extra)
        }
        let name = head.slice(at: start, count: 256).prefix { $0 != 0 }
        return String(decoding: name, as: UTF8.self).lowercased()
    }
}
