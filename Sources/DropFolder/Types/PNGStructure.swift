import ChuteSystem

/// PNG ends with the chunk `IEND`; what follows it is not part of the picture.
enum PNGStructure {
    private static let lastChunk: [UInt8] = [
        0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    static func probe(_ file: BoundedFile) throws(SystemError) -> FileStructure {
        if try file.tail(count: 12).has(lastChunk) { return .complete }
        var position = UInt64(PNGType.signature.count)
        for _ in 0..<100_000 {
            let header = try file.read(at: position, count: 8)
            guard let length = header.number(4, at: 0), let kind = header.code(at: 4) else {
                return .cut
            }
            position += 12 + length
            guard position <= file.size, kind.unicodeScalars.allSatisfy(\.properties.isAlphabetic)
            else { return .cut }
            if kind == "IEND" { return .complete }
        }
        return .unknown
    }
}
