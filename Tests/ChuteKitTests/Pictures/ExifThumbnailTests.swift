import Testing

@testable import ChuteKit

struct ExifThumbnailTests {
    /// A JPEG's beginning: another segment, then EXIF with one entry and a link to `second`.
    private static func jpeg(second: UInt8, isBig: Bool) -> [UInt8] {
        func number(_ value: UInt8, _ count: Int) -> [UInt8] {
            let digits = [UInt8](repeating: 0, count: count - 1) + [value]
            return isBig ? digits : digits.reversed()
        }
        var tiff = Array((isBig ? "MM" : "II").utf8) + number(42, 2) + number(8, 4)
        tiff += number(1, 2) + [UInt8](repeating: 0, count: 12) + number(second, 4)
        let exif = Array("Exif\0\0".utf8) + tiff
        return [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
            + [0xFF, 0xDA, 0, 2, 9, 9]
    }

    @Test(arguments: [true, false])
    func `the link to the small picture is found, and not where there is none`(isBig: Bool) throws {
        let bytes = Self.jpeg(second: 40, isBig: isBig)
        let link = try #require(ExifThumbnail.link(in: bytes))
        let digits: [UInt8] = isBig ? [0, 0, 0, 40] : [40, 0, 0, 0]
        #expect(Array(bytes[link..<(link + 4)]) == digits)
        #expect(ExifThumbnail.link(in: Self.jpeg(second: 0, isBig: isBig)) == nil)
    }

    @Test func `bytes that are cut, or anything else, have none`() {
        let bytes = Self.jpeg(second: 40, isBig: true)
        for count in 0..<44 { #expect(ExifThumbnail.link(in: Array(bytes.prefix(count))) == nil) }
        #expect(ExifThumbnail.link(in: [UInt8](repeating: 0xFF, count: 1000)) == nil)
        var changed = bytes
        for index in changed.indices {
            for value: UInt8 in [0, 0x7F, 0xFF] {
                changed[index] = value
                let link = ExifThumbnail.link(in: changed)
                #expect(link.map { $0 + 4 <= changed.count } ?? true)
            }
            changed[index] = bytes[index]
        }
    }
}
