/// Small files made of bytes, for what is told from bytes.
enum SampleBytes {
    static func big(_ value: Int, _ width: Int = 4) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    static func little(_ value: Int, _ width: Int = 4) -> [UInt8] { big(value, width).reversed() }

    /// A box of ISO media.
    static func box(_ kind: String, _ body: [UInt8] = []) -> [UInt8] {
        big(8 + body.count) + Array(kind.utf8) + body
    }

    static func brand(_ major: String, _ others: String...) -> [UInt8] {
        box("ftyp", Array(major.utf8) + big(0) + others.flatMap { Array($0.utf8) })
    }

    /// A movie with one track for each handler, such as `soun`.
    static func movie(_ handlers: String...) -> [UInt8] {
        box(
            "moov",
            handlers.flatMap { handler in
                box(
                    "trak", box("mdia", box("hdlr", big(0) + big(0) + Array(handler.utf8) + big(0)))
                )
            })
    }

    static func chunk(_ kind: String, _ body: [UInt8] = []) -> [UInt8] {
        big(body.count) + Array(kind.utf8) + body + [1, 2, 3, 4]
    }

    static let pngMark: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let pngHead = pngMark + chunk("IHDR", [UInt8](repeating: 1, count: 13))

    static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xFF, marker] + big(body.count + 2, 2) + body
    }

    /// A JPEG as far as markers go, with `content` in its scan.
    static func jpeg(_ segments: [UInt8] = [], content: [UInt8] = [1, 2, 0xFF, 0, 3]) -> [UInt8] {
        [0xFF, 0xD8] + segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]) + segments
            + segment(0xC0, [8, 0, 1, 0, 1, 1, 1, 17, 0]) + segment(0xDA, [1, 1, 0, 0, 63, 0])
            + content + [0xFF, 0xD9]
    }

    /// A little-endian TIFF of one directory: tags of type LONG, and the maker's name.
    static func tiff(maker: String = "", tags: [(Int, Int)] = []) -> [UInt8] {
        let count = tags.count + (maker.isEmpty ? 0 : 1)
        let text = Array(maker.utf8) + [0]
        var bytes = Array("II".utf8) + little(42, 2) + little(8) + little(count, 2)
        if !maker.isEmpty {
            bytes += little(0x010F, 2) + little(2, 2) + little(text.count)
            bytes += little(8 + 2 + count * 12 + 4)
        }
        for (tag, value) in tags {
            bytes += little(tag, 2) + little(4, 2) + little(1) + little(value)
        }
        return bytes + little(0) + text
    }

    /// A ZIP archive of stored entries.
    static func zip(_ entries: [(String, String)], comment: String = "") -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for (name, content) in entries {
            let sizes = little(content.utf8.count) + little(content.utf8.count)
            let shared = little(0) + little(0) + little(0) + sizes + little(name.utf8.count, 2)
            directory += Array("PK\u{1}\u{2}".utf8) + little(20, 2) + little(20, 2)
            directory += shared + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2)
            directory += little(0) + little(bytes.count) + Array(name.utf8)
            bytes += Array("PK\u{3}\u{4}".utf8) + little(20, 2) + shared + little(0, 2)
            bytes += Array(name.utf8) + Array(content.utf8)
        }
        let end = little(0) + little(entries.count, 2) + little(entries.count, 2)
        return bytes + directory + Array("PK\u{5}\u{6}".utf8) + end
            + little(directory.count) + little(bytes.count)
            + little(comment.utf8.count, 2) + Array(comment.utf8)
    }
}
