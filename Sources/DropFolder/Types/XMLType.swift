/// Names XML and HTML by their first element, whatever stands before it: byte order mark,
/// declaration, comments, document type.
enum XMLType {
    /// How far the first element is looked for.
    private static let limit = 64 << 10

    static func type(of head: Excerpt, name: FileExtension) -> MIMEType? {
        var scanner = XMLProlog(text(of: head))
        guard let prolog = scanner.scan() else { return nil }
        switch prolog {
        case .html: return "text/html"
        case .packet: return "application/rdf+xml"
        case .root(let element, let isDeclared):
            switch element {
            case "svg": return "image/svg+xml"
            case "xmpmeta", "xapmeta", "RDF": return "application/rdf+xml"
            case _ where element.lowercased() == "html": return "text/html"
            case "math" where isDeclared: return "application/mathml+xml"
            default: break
            }
            if name.text == "svg" { return "image/svg+xml" }
            return isDeclared ? "text/xml" : nil
        }
    }

    /// The beginning as bytes of which the ASCII ones are true: UTF-16 is thinned out.
    private static func text(of head: Excerpt) -> [UInt8] {
        let start = head.slice(at: 0, count: limit)
        if head.has([0xEF, 0xBB, 0xBF]) { return Array(start.dropFirst(3)) }
        let order: Excerpt.ByteOrder
        if head.has([0xFF, 0xFE]) || head.has([0x3C, 0, 0x3F, 0]) {
            order = .little
        } else if head.has([0xFE, 0xFF]) || head.has([0, 0x3C, 0, 0x3F]) {
            order = .big
        } else {
            return Array(start)
        }
        let first = head.has([0x3C]) || head.has([0, 0x3C]) ? 0 : 2
        return stride(from: first, to: start.count - 1, by: 2).map { index in
            let unit = head.number(2, at: index, order) ?? 0xFFFF
            return unit < 0x80 ? UInt8(unit) : 0x80
        }
    }
}
