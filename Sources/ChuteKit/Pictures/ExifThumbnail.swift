/// The small picture inside of a JPEG's metadata.
///
/// libvips turns a picture upright and leaves this one as it was: whoever shows it would show it
/// lying on its side.
enum ExifThumbnail {
    /// How much of a JPEG's beginning has to be looked at, in bytes: a few segments of 64 KiB.
    static let reach = 256 << 10

    /// Where, in a JPEG that begins with `bytes`, the four bytes lie that lead to the small
    /// picture; zeros there mean that there is none. `nil` where there is none already.
    static func link(in bytes: [UInt8]) -> Int? {
        guard let start = tiff(in: bytes), start + 8 <= bytes.count else { return nil }
        let isBig: Bool
        switch (bytes[start], bytes[start + 1]) {
        case (0x4D, 0x4D): isBig = true
        case (0x49, 0x49): isBig = false
        default: return nil
        }
        func number(at offset: Int, count: Int) -> Int? {
            guard offset >= 0, offset + count <= bytes.count else { return nil }
            let digits = bytes[offset..<(offset + count)]
            return (isBig ? Array(digits) : digits.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        // The first directory: a count, entries of 12 bytes, and where the second one is.
        guard let first = number(at: start + 4, count: 4),
            let count = number(at: start + first, count: 2)
        else { return nil }
        let link = start + first + 2 + 12 * count
        guard let second = number(at: link, count: 4), second != 0 else { return nil }
        return link
    }

    /// Where the TIFF structure of the EXIF segment begins.
    private static func tiff(in bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var offset = 2
        // Until the picture itself begins (SOS, 0xDA).
        while offset + 4 <= bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] != 0xDA {
            let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            let content = bytes[(offset + 4)...]
            if bytes[offset + 1] == 0xE1, content.starts(with: Array("Exif\0\0".utf8)) {
                return offset + 10
            }
            offset += 2 + max(length, 2)
        }
        return nil
    }
}
