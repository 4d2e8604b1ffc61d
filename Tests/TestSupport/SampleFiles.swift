package import ChuteSystem
import Glibc

/// Files for tests to drop; each is another one.
package enum SampleFiles {
    /// A JPEG that is whole by its structure, of about `byteCount` random bytes.
    ///
    /// A picture of one grey point, with comments before it that make it as large.
    package static func photo(
        _ byteCount: Int, using generator: inout SeededGenerator
    ) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8]
        bytes.reserveCapacity(byteCount + 256)
        var left = byteCount
        repeat {
            let count = min(max(left, 16), 65_000)
            bytes += [0xFF, 0xFE, UInt8((count + 2) >> 8), UInt8((count + 2) & 0xFF)]
            bytes += generator.bytes(count)
            left -= count
        } while left > 0
        return bytes + greyPoint
    }

    /// Many bytes that are quickly made: of every 64 KiB the first ones are random and the rest is
    /// the same, so that none can stand in the place of another.
    package static func long(
        _ byteCount: Int, using generator: inout SeededGenerator
    ) -> [UInt8] {
        let block = generator.bytes(64 << 10)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount + block.count)
        while bytes.count < byteCount {
            bytes += generator.bytes(16)
            bytes += block[16...]
        }
        return Array(bytes.prefix(byteCount))
    }

    /// Tables, frame and scan of a picture of one point, and the end of the image.
    private static let greyPoint: [UInt8] = [
        0xFF, 0xDB, 0x00, 0x43, 0x00, 0x03, 0x02, 0x02, 0x02, 0x02, 0x02, 0x03, 0x02, 0x02, 0x02,
        0x03, 0x03, 0x03, 0x03, 0x04, 0x06, 0x04, 0x04, 0x04, 0x04, 0x04, 0x08, 0x06, 0x06, 0x05,
        0x06, 0x09, 0x08, 0x0A, 0x0A, 0x09, 0x08, 0x09, 0x09, 0x0A, 0x0C, 0x0F, 0x0C, 0x0A, 0x0B,
        0x0E, 0x0B, 0x09, 0x09, 0x0D, 0x11, 0x0D, 0x0E, 0x0F, 0x10, 0x10, 0x11, 0x10, 0x0A, 0x0C,
        0x12, 0x13, 0x12, 0x10, 0x13, 0x0F, 0x10, 0x10, 0x10, 0xFF, 0xC9, 0x00, 0x0B, 0x08, 0x00,
        0x01, 0x00, 0x01, 0x01, 0x01, 0x11, 0x00, 0xFF, 0xCC, 0x00, 0x06, 0x00, 0x10, 0x10, 0x05,
        0xFF, 0xDA, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x3F, 0x00, 0xD2, 0xCF, 0x20, 0xFF, 0xD9,
    ]

    /// Writes `bytes` to a new file at `path`.
    package static func write(_ bytes: [UInt8], to path: BytePath) throws {
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL)
        try file.write(bytes, at: 0)
    }
}
