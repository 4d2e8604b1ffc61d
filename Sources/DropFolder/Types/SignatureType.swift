import ChuteSystem

/// Formats with a fixed mark that libmagic leaves out, or takes for something else.
enum SignatureType {
    private struct Signature {
        let type: MIMEType
        let offset: Int
        let mark: [UInt8]

        init(_ type: MIMEType, at offset: Int = 0, _ mark: [UInt8]) {
            self.type = type
            self.offset = offset
            self.mark = mark
        }
    }

    private static let table: [Signature] = [
        Signature("image/vnd.radiance", Array("#?RADIANCE\n".utf8)),
        Signature("image/vnd.radiance", Array("#?RGBE\n".utf8)),
        Signature("image/flif", Array("FLIF".utf8)),
        Signature("image/vnd.ms-dds", Array("DDS \u{7C}\0\0\0".utf8)),
        Signature("image/x-fuji-raf", Array("FUJIFILMCCD-RAW ".utf8)),
        Signature("image/x-sigma-x3f", Array("FOVb".utf8)),
        Signature("image/x-minolta-mrw", Array("\0MRM".utf8)),
        Signature("image/x-canon-crw", at: 6, Array("HEAPCCDR".utf8)),
        Signature("image/x-paintshoppro", Array("Paint Shop Pro Image File\n\u{1A}".utf8)),
        Signature("image/x-photo-cd", at: 2048, Array("PCD_IPI".utf8)),
        Signature("image/pict", at: 522, [0x00, 0x11, 0x02, 0xFF, 0x0C, 0x00]),
        Signature("image/pict", at: 10, [0x00, 0x11, 0x02, 0xFF, 0x0C, 0x00]),
        Signature("video/x-red-r3d", at: 4, Array("RED1".utf8)),
        Signature("video/x-red-r3d", at: 4, Array("RED2".utf8)),
        Signature(
            "application/x-indesign",
            [
                0x06, 0x06, 0xED, 0xF5, 0xD8, 0x1D, 0x46, 0xE5,
                0xBD, 0x31, 0xEF, 0xE7, 0xFE, 0x74, 0xB7, 0x1D,
            ]),
    ]

    static func type(of head: Excerpt) -> MIMEType? {
        if head.has([1, 0, 0, 0]), head.has(" EMF", at: 40) { return "image/emf" }
        return table.first { head.has($0.mark, at: $0.offset) }?.type
    }

    /// A transport stream: the sync byte stands at the same place of several packets, of 188
    /// bytes, or of 192 with a time code first.
    static func isTransportStream(_ head: Excerpt) -> Bool {
        [(188, 0), (192, 4)].contains { packet, first in
            let packets = min(8, (head.count - first + packet - 1) / packet)
            return packets >= 4
                && (0..<packets).allSatisfy { head.byte(at: first + $0 * packet) == 0x47 }
        }
    }
}
